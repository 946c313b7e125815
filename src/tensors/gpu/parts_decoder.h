// What decodes the parts that an accumulator (holo_context.h) has: kernels, or the CPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "device/transfer.h"
#include "tensors/encoded_tensor.h"

namespace hoist::tensors {

class PartsDecoder {
 public:
  virtual ~PartsDecoder() = default;

  // Takes a copy. `corrupt`: the bytes cannot be that part.
  virtual Status add(size_t part, std::span<const std::byte> bytes) = 0;
  virtual Status add(size_t part, device::Span<const std::byte> bytes) = 0;
  virtual bool can_reconstruct() const = 0;
  // The parts that are there have been added in any order; returns when `out` is whole.
  virtual Status reconstruct(device::Span<std::byte> out, device::Stream& stream) = 0;
};

// For the transfer's device; the pool is the transfer's, and the description outlives the decoder.
Result<std::unique_ptr<PartsDecoder>> make_parts_decoder(device::PinnedPool& pool,
                                                         device::Transfer& transfer,
                                                         const TensorDescription& description);

}  // namespace hoist::tensors
