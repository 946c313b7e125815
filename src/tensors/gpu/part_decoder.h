// Checks shards and decodes tensors in a device's memory, behind the copies that bring them: with
// kernels on a CUDA device, with the plain decoders on the CPU device.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "device/pinned_pool.h"
#include "device/stream.h"
#include "tensors/file/header.h"
#include "tensors/gpu/checksum_gpu.h"

namespace hoist::tensors {

// A tensor from its first parts, as they are stored; all in the device's memory.
struct PartTask {
  size_t tensor = 0;  // of the header's
  std::vector<std::span<const std::byte>> parts;
  std::span<std::byte> out;
};

// Functions that take a stream enqueue work there, always the same stream, and return. One thread
// at a time; those that take none may be called besides.
class PartDecoder {
 public:
  virtual ~PartDecoder() = default;

  virtual Status check(std::span<const size_t> shards, std::span<const DevicePiece> pieces,
                       device::Stream& stream) = 0;
  virtual Status decode(std::span<const PartTask> tasks, device::Stream& stream) = 0;

  // Enqueues a report; after that work is_wrong() and is_corrupt() know what came before it.
  virtual Status collect(device::Stream& stream) = 0;
  virtual bool is_wrong(size_t shard) const = 0;  // it had another checksum
  // Its parts are not an encoder's, or the device could not decode them.
  virtual bool is_corrupt(size_t tensor) const = 0;
};

// Whether the device's decoder knows the tensor's encoding and packing.
bool can_decode_parts(const device::Device& device, const HoloTensor& tensor);

// `tensors`: which of the header's tasks will be for; can_decode_parts() of all of them. The header
// and the pool, whose device it is for, must outlive the decoder. `corrupt`: a description breaks a
// rule.
Result<std::unique_ptr<PartDecoder>> make_part_decoder(device::PinnedPool& pool,
                                                       const HoloTensorHeader& header,
                                                       const std::vector<size_t>& tensors);

}  // namespace hoist::tensors
