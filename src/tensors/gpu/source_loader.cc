#include "tensors/gpu/source_loader.h"

#include <fmt/core.h>

#include <algorithm>

namespace hoist::tensors {
namespace {

constexpr uint64_t kTensorAlignment = 256;

}  // namespace

Result<GpuModel> load_source(device::Device& device, const ModelSource& source,
                             const GpuLoadOptions& options) {
  uint64_t total = 0;
  uint64_t largest = 0;
  std::vector<uint64_t> offsets;
  for (const ModelTensor& tensor : source.tensors()) {
    offsets.push_back(total);
    total += (tensor.bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    largest = std::max(largest, tensor.bytes);
  }
  Result<device::Buffer> memory =
      device::Buffer::allocate(device, std::max(total, kTensorAlignment));
  if (!memory) return tl::unexpected(memory.error());
  container::BlockBytes host = container::BlockBytes::allocate(largest);
  if (host.size() != largest) {
    return fail(ErrorCode::exhausted, fmt::format("no memory for a tensor of {} bytes", largest));
  }
  device::PinnedPool pool(device);
  device::Transfer transfer(pool);
  GpuModel model;
  model.memory = std::make_shared<device::Buffer>(std::move(*memory));
  for (size_t i = 0; i < offsets.size(); ++i) {
    const ModelTensor& tensor = source.tensors()[i];
    if (options.stop.stop_requested()) return fail(ErrorCode::cancelled, "stopped");
    const std::span<std::byte> bytes(host.data(), tensor.bytes);
    if (Status read = source.read(tensor, bytes); !read) return tl::unexpected(read.error());
    model.tensors.push_back({tensor.name, tensor.dtype, tensor.shape,
                             model.memory->view().subview(offsets[i], tensor.bytes), 1, 1});
    const GpuTensor& loaded = model.tensors.back();
    Status sent =
        transfer.upload(std::span<const std::byte>(bytes), loaded.data, {.stop = options.stop});
    if (!sent) return tl::unexpected(sent.error());
    if (options.on_tensor) options.on_tensor(loaded);
  }
  return model;
}

}  // namespace hoist::tensors
