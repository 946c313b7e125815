#include "tensors/gpu/transform_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/threads.h"
#include "tensors/gpu/kernel_arguments.h"
#include "tensors/transform/transform.h"

namespace hoist::tensors {

bool TransformParts::supports(const HoloTensor& tensor) {
  const TensorDescription& description = tensor.description;
  if (!is_transform(description.encoding)) return false;
  for (size_t part = 0; part < tensor.parts.size(); ++part) {
    if (tensor.parts[part].packing != Packing::plain ||
        tensor.parts[part].bytes != description.part_bytes[part]) {
      return false;
    }
  }
  const Result<TransformLayout> layout = transform_layout(description);
  return layout && TransformGpu::supports(*layout);
}

Result<std::unique_ptr<TransformParts>> TransformParts::create(device::PinnedPool& pool,
                                                               const HoloTensorHeader& header,
                                                               const std::vector<size_t>& tensors) {
  std::unique_ptr<TransformParts> parts(new TransformParts);
  parts->undone_ = std::vector<std::atomic<bool>>(tensors.size());
  // What is essential of a spectral tensor takes a while to find, and there are many.
  std::vector<std::optional<Result<TransformGpu>>> created(tensors.size());
  ThreadPool::process().parallel_for(tensors.size(), [&](size_t i) {
    created[i] = TransformGpu::create(pool, header.tensors[tensors[i]].description);
  });
  for (std::optional<Result<TransformGpu>>& tensor : created) {
    if (!*tensor) return tensor->error();
    parts->tensors_.push_back(*std::move(*tensor));
  }
  const size_t words = std::max<size_t>(tensors.size(), 1);
  Result<device::Buffer> status = device::Buffer::allocate(pool.device(), words * sizeof(uint32_t));
  if (!status) return status.error();
  parts->status_ = *std::move(status);
  if (Status clear = parts->status_.fill(std::byte{0}); !clear) {
    return clear.error();
  }
  Result<device::PinnedBlock> report = new_report(pool, words, 0);
  if (!report) return report.error();
  parts->report_ = *std::move(report);
  return parts;
}

Status TransformParts::decode(size_t tensor, std::span<const std::span<const std::byte>> parts,
                              void* out, device::Stream& stream) {
  TransformGpu& gpu = tensors_[tensor];
  std::vector<const std::byte*> fragments(gpu.fragments());
  for (size_t part = 0; part < parts.size(); ++part) fragments[part] = parts[part].data();
  Status done = gpu.check(fragments, static_cast<uint32_t*>(status_.data()) + tensor, stream);
  if (done) done = gpu.reconstruct(fragments, out, stream);
  if (done) return done;
  const ErrorCode code = done.error().code;  // of these it is the CPU's
  if (code != ErrorCode::exhausted && code != ErrorCode::unavailable &&
      code != ErrorCode::unsupported) {
    return done;
  }
  undone_[tensor] = true;
  return {};
}

Status TransformParts::collect(device::Stream& stream) {
  return stream.copy(report_.data(), status_.data(), status_.size());
}

bool TransformParts::is_corrupt(size_t tensor) const {
  return undone_[tensor] || report_word(report_, tensor) != 0;
}

}  // namespace hoist::tensors
