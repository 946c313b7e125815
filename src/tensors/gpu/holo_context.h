// Tensors from fragments on one device: whichever fragments come, in whichever order.
//
//   Result<std::unique_ptr<GpuHoloContext>> context = GpuHoloContext::create(device);
//   Result<GpuAccumulator> tensor = (*context)->create_accumulator(description);
//   for (…) (*context)->accumulate_fragment(*tensor, part, bytes);
//   Status status = (*context)->finalize_reconstruction(*tensor, buffer.view());
//
// A fragment is a part of an encoded tensor (tensors/encoded_tensor.h): layers of embedded tensors
// count as far as they are there without a gap. After finalize_reconstruction() more may come, and
// it may be called again. On a CUDA device kernels decode what they can (embedded_gpu.h,
// transform_gpu.h); everything else, and everything on the CPU device, the CPU decodes.
//
// Calls return when their work is done. Several threads may use one context, each with an
// accumulator of its own; these run on streams of the context's pool, so that one's copies overlap
// another's kernels. The context must outlive its accumulators.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "device/transfer.h"
#include "tensors/encoded_tensor.h"
#include "tensors/gpu/convert_gpu.h"

namespace hoist::tensors {

// Streams that are handed out in turn. Thread-safe.
class HoloStreamPool {
 public:
  // `exhausted` or `unavailable`: the device gives no streams; `invalid_argument`: 0 of them.
  static Result<HoloStreamPool> create(device::Device& device, size_t streams);

  device::Stream& next() { return streams_[(*turn_)++ % streams_.size()]; }
  size_t size() const { return streams_.size(); }
  // Waits for all of them.
  Status synchronize();

 private:
  HoloStreamPool() = default;

  std::vector<device::Stream> streams_;
  std::unique_ptr<std::atomic<size_t>> turn_ = std::make_unique<std::atomic<size_t>>(0);
};

class GpuHoloContext;
class PartsDecoder;  // what decodes an accumulator's parts

// A tensor that fragments are collected for. One thread at a time.
class GpuAccumulator {
 public:
  GpuAccumulator(GpuAccumulator&&) noexcept;
  GpuAccumulator& operator=(GpuAccumulator&&) noexcept;
  ~GpuAccumulator();

  const TensorDescription& description() const { return *description_; }
  uint64_t bytes() const;  // of the tensor
  bool can_reconstruct() const;
  // By the curve that was measured when it was encoded, of the fragments that are there and count.
  double quality() const;
  size_t fragments() const { return parts_.size(); }

 private:
  friend class GpuHoloContext;
  GpuAccumulator(std::unique_ptr<const TensorDescription> description,
                 std::unique_ptr<PartsDecoder> decoder, device::Stream& stream,
                 const GpuHoloContext& maker);

  std::unique_ptr<const TensorDescription> description_;
  std::unique_ptr<PartsDecoder> decoder_;
  device::Stream* stream_;
  const GpuHoloContext* maker_;
  std::vector<size_t> parts_;  // that are there
};

class GpuHoloContext {
 public:
  static Result<std::unique_ptr<GpuHoloContext>> create(device::Device& device, size_t streams = 4);

  device::Device& device() const { return pool_.device(); }
  device::Transfer& transfer() { return transfer_; }

  // Descriptions are untrusted: `corrupt`.
  Result<GpuAccumulator> create_accumulator(const TensorDescription& description);

  // Copies the bytes, which may go then. A fragment that is there already is ignored. `corrupt`
  // where they cannot be that fragment; `invalid_argument`: no such fragment, or an accumulator of
  // another context.
  Status accumulate_fragment(GpuAccumulator& tensor, size_t part, std::span<const std::byte> bytes);
  // The same of bytes in a device's memory, which this device can reach or copy.
  Status accumulate_fragment(GpuAccumulator& tensor, size_t part,
                             device::Span<const std::byte> bytes);

  // Writes the whole tensor, in its own type, to this device's memory, aligned to 16 bytes.
  // `invalid_argument`: a wrong size, nothing to rebuild from, or an accumulator of another
  // context; `corrupt`: fragments that are not
  // an encoder's.
  Status finalize_reconstruction(GpuAccumulator& tensor, device::Span<std::byte> out);

  // All of it in one call.
  Result<device::Buffer> reconstruct(const TensorDescription& description,
                                     std::span<const std::vector<std::byte>> parts);

  // Reconstructs and converts, or dequantises, without a copy on the host (convert_gpu.h).
  Result<device::Buffer> reconstruct_as(GpuAccumulator& tensor, DType dtype,
                                        const Quantisation& quantisation = {});
  // Elements of a buffer.
  Status convert(device::Span<const std::byte> in, DType from, device::Span<std::byte> out,
                 DType to, const Quantisation& quantisation = {});

 private:
  Status check_maker(const GpuAccumulator& tensor) const;

  GpuHoloContext(device::Device& device, HoloStreamPool streams)
      : pool_(device), transfer_(pool_), streams_(std::move(streams)) {}

  device::PinnedPool pool_;
  device::Transfer transfer_;
  HoloStreamPool streams_;
};

}  // namespace hoist::tensors
