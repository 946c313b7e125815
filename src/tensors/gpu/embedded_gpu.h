// Decodes embedded tensors whose layers lie in the memory of a CUDA device, many in one launch.
//
//   Result<EmbeddedGpu> decoder = EmbeddedGpu::create(pool, layouts);
//   Status status = decoder->decode(tasks, stream);         // both return at once
//   if (status) status = decoder->collect(stream);
//   if (status) status = stream.synchronize();
//   if (decoder->is_corrupt(0)) …
//
// A tile of the entropy-coded section is decoded by a warp, so a device is busy from some 4000
// tiles on, of all tasks together. Each input byte is read once and each output byte written once.
//
// One thread at a time. Errors: `unavailable` without a device or plug-in, `unsupported` for what
// no kernel takes, and the device's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "tensors/embedded/layout.h"
#include "tensors/gpu/embedded_job.h"

namespace hoist::tensors {

// A layer's memory must be readable for so many bytes beyond its end; its beginning is aligned to
// 16 bytes.
inline constexpr size_t kEmbeddedMargin = kEmbeddedPiece;

// A tensor from its layers 0…layers.size() - 1, as its decoder on the CPU makes it.
struct EmbeddedTask {
  size_t tensor = 0;                     // of those that create() was given
  std::vector<const std::byte*> layers;  // on the device
  void* out = nullptr;                   // on the device, aligned to 16 bytes
};

class EmbeddedGpu {
 public:
  // The pool, and the layouts, must outlive it. Sends the decode tables: 17 KiB a tensor.
  static Result<EmbeddedGpu> create(device::PinnedPool& pool,
                                    std::vector<const EmbeddedLayout*> layouts);

  // Enqueues the work. No tensor may be in two calls at once: the stream is always the same, or one
  // waits for the other.
  Status decode(std::span<const EmbeddedTask> tasks, device::Stream& stream);

  // Enqueues the report of what decode() met so far.
  Status collect(device::Stream& stream);
  // By the last report that arrived: whether the tensor's last decode() met layers that are not an
  // encoder's. Its elements are unspecified then. Checksums find more.
  bool is_corrupt(size_t tensor) const;

 private:
  struct Tensor {
    const EmbeddedLayout* layout;
    EmbeddedKernel kernel;
    uint32_t tiles;
    size_t first_tile;  // of tile_at_
  };

  explicit EmbeddedGpu(device::PinnedPool& pool) : pool_(&pool) {}
  Result<EmbeddedJob> job(const EmbeddedTask& task) const;

  device::PinnedPool* pool_;
  std::vector<Tensor> tensors_;
  device::Buffer tables_;
  device::Buffer tile_at_;
  device::Buffer status_;
  device::PinnedBlock report_;
};

}  // namespace hoist::tensors
