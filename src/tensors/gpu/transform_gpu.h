// Rebuilds transformed tensors (tensors/transform/) on a CUDA device from fragments in its memory.
//
//   Result<TransformGpu> rebuilder = TransformGpu::create(pool, description);
//   Status status = rebuilder->reconstruct(fragments, out, stream);       // returns at once
//
// The result differs from the CPU's by rounding: relative to the tensor's norm by less than 1e-6
// before it is rounded to its type. Elements that are not finite come back bit for bit.
//
// One thread at a time. Errors: `unavailable` without a device, plug-in or, for low rank, cuBLAS;
// `unsupported` where supports() says no; the device's own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "tensors/gpu/transform_job.h"
#include "tensors/transform/format.h"
#include "tensors/transform/patches.h"

namespace hoist::tensors {

class TransformGpu {
 public:
  // Whether there are kernels: for f32, f16 and bf16; of spectral tensors where both sides are at
  // most kMaxCosineLength and products of 2, 3, 5 and 7.
  static bool supports(const TransformLayout& layout);

  // The pool, and the description, must outlive it.
  static Result<TransformGpu> create(device::PinnedPool& pool,
                                     const TensorDescription& description);

  size_t fragments() const { return layout_.fragments; }  // places for them

  // Enqueues a look at the headers and the padding of fragments, by number as for reconstruct():
  // sets the device's word `status` to 1 where check_fragment() would find one wrong.
  Status check(std::span<const std::byte* const> fragments, uint32_t* status,
               device::Stream& stream);

  // Fragments by number, on the device and aligned to 16 bytes; null where one is missing, at least
  // one is not. Values are taken as they are. `out` has all elements. Takes working memory
  // of the stream's pool: 4 bytes an element of spectral tensors, 4 and the vectors of low-rank
  // ones, little of projected ones.
  Status reconstruct(std::span<const std::byte* const> fragments, void* out,
                     device::Stream& stream);

 private:
  explicit TransformGpu(device::PinnedPool& pool) : pool_(&pool) {}

  Status unproject(const DealtValues& dealt, void* out, device::Stream& stream);
  Status invert_cosine(const DealtValues& dealt, void* out, device::Stream& stream);
  Status multiply(std::span<const std::byte* const> fragments, void* out, device::Stream& stream);
  Status apply_runs(void* out, device::Stream& stream);

  device::PinnedPool* pool_;
  TransformLayout layout_;
  ElementScale scale_{};
  std::vector<ElementRun> runs_;
  std::vector<uint64_t> before_;  // spectral: essential coefficients before each row, and in all
};

}  // namespace hoist::tensors
