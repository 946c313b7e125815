// The transformed tensors of a file on a CUDA device, from parts in its memory: what PartDecoder
// (part_decoder.h) has for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "tensors/file/header.h"
#include "tensors/gpu/transform_gpu.h"

namespace hoist::tensors {

class TransformParts {
 public:
  // Whether there are kernels for it.
  static bool supports(const HoloTensor& tensor);

  // `tensors`: numbers of the header's, supports() of all of them. The header and the pool must
  // outlive it. `corrupt`: a description breaks a rule.
  static Result<std::unique_ptr<TransformParts>> create(device::PinnedPool& pool,
                                                        const HoloTensorHeader& header,
                                                        const std::vector<size_t>& tensors);

  // Enqueues the work: `tensor` of those that create() was given, from its first parts. Always the
  // same stream, from whose pool it takes TransformGpu's working memory until the work is done.
  // Where there is none, or no cuBLAS for a low-rank tensor, the tensor becomes corrupt: another
  // decoder may have better luck.
  Status decode(size_t tensor, std::span<const std::span<const std::byte>> parts, void* out,
                device::Stream& stream);

  // Enqueues the report of what decode() met so far.
  Status collect(device::Stream& stream);
  // By the last report that arrived: whether any decode() of the tensor met parts that are not an
  // encoder's, or could not be done.
  bool is_corrupt(size_t tensor) const;

 private:
  TransformParts() = default;

  std::vector<TransformGpu> tensors_;
  std::vector<std::atomic<bool>> undone_;
  device::Buffer status_;  // a word a tensor
  device::PinnedBlock report_;
};

}  // namespace hoist::tensors
