#include "tensors/gpu/multi_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "base/quiet_thread.h"

namespace hoist::tensors {
namespace {

// Which device takes which part: the largest first, each to whoever has the least.
std::vector<std::vector<size_t>> share_out(std::span<const NumberedPart> parts, size_t devices) {
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return parts[a].bytes.size() > parts[b].bytes.size();
  });
  std::vector<std::vector<size_t>> shares(devices);
  std::vector<uint64_t> bytes(devices);
  for (const size_t part : order) {
    const auto least =
        static_cast<size_t>(std::min_element(bytes.begin(), bytes.end()) - bytes.begin());
    shares[least].push_back(part);
    bytes[least] += parts[part].bytes.size();
  }
  return shares;
}

Status upload(GpuHoloContext& context, std::span<const NumberedPart> parts,
              const std::vector<size_t>& share, std::vector<device::Buffer>& buffers) {
  for (const size_t number : share) {
    const std::span<const std::byte> bytes = parts[number].bytes;
    Result<device::Buffer> buffer =
        device::Buffer::allocate(context.device(), std::max<size_t>(bytes.size(), 1));
    if (!buffer) return buffer.error();
    Status done = context.transfer().upload(bytes, buffer->view().subspan(0, bytes.size()));
    if (!done) return done;
    buffers[number] = std::move(*buffer);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<MultiGpuHoloContext>> MultiGpuHoloContext::create(
    const std::vector<device::Device*>& devices) {
  if (devices.empty() || std::any_of(devices.begin(), devices.end(), [&](device::Device* device) {
        return device->properties().kind != devices[0]->properties().kind;
      })) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} devices for a tensor: one or more, of one kind", devices.size()));
  }
  std::vector<std::unique_ptr<GpuHoloContext>> contexts;
  for (device::Device* const device : devices) {
    Result<std::unique_ptr<GpuHoloContext>> context = GpuHoloContext::create(*device);
    if (!context) return context.error();
    contexts.push_back(std::move(*context));
    if (device != devices[0] && devices[0]->can_access(*device)) {
      if (Status allowed = devices[0]->allow_access(*device); !allowed) {
        return allowed.error();
      }
    }
  }
  return std::unique_ptr<MultiGpuHoloContext>(new MultiGpuHoloContext(std::move(contexts)));
}

Result<GpuAccumulator> MultiGpuHoloContext::accumulate(const TensorDescription& description,
                                                       std::span<const NumberedPart> parts) {
  Result<GpuAccumulator> tensor = context().create_accumulator(description);
  if (!tensor) return tensor;
  const std::vector<std::vector<size_t>> shares = share_out(parts, contexts_.size());
  std::vector<device::Buffer> buffers(parts.size());
  std::vector<Status> statuses(contexts_.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < contexts_.size(); ++i) {
    const auto upload_share = [&, i] {
      statuses[i] = upload(*contexts_[i], parts, shares[i], buffers);
    };
    if (auto thread = start_quiet_thread(upload_share)) {
      threads.push_back(*std::move(thread));
    } else {
      upload_share();
    }
  }
  for (const size_t number : shares[0]) {  // these need no gathering
    if (!statuses[0]) break;
    statuses[0] = context().accumulate_fragment(*tensor, parts[number].part, parts[number].bytes);
  }
  for (std::thread& thread : threads) thread.join();
  for (Status& status : statuses) {
    if (!status) return std::move(status).error();
  }
  for (size_t i = 1; i < contexts_.size(); ++i) {
    for (const size_t number : shares[i]) {
      Status gathered = context().accumulate_fragment(
          *tensor, parts[number].part,
          buffers[number].view<const std::byte>().subspan(0, parts[number].bytes.size()));
      if (!gathered) return gathered.error();
    }
  }
  return tensor;
}

Result<device::Buffer> MultiGpuHoloContext::reconstruct(const TensorDescription& description,
                                                        std::span<const NumberedPart> parts) {
  Result<GpuAccumulator> tensor = accumulate(description, parts);
  if (!tensor) return tensor.error();
  return context().reconstruct_as(*tensor, description.dtype);
}

}  // namespace hoist::tensors
