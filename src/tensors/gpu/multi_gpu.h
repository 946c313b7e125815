// One tensor through several devices: each takes a share of the fragments over its own link, all at
// once, and the first one gathers them, device to device, and decodes.
//
//   Result<std::unique_ptr<MultiGpuHoloContext>> context = MultiGpuHoloContext::create(devices);
//   Result<device::Buffer> tensor = (*context)->reconstruct(description, fragments);
//
// Worth its while where fragments are large and the devices' links are their own. One call at a
// time.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tensors/gpu/holo_context.h"

namespace hoist::tensors {

struct NumberedPart {
  size_t part = 0;
  std::span<const std::byte> bytes;
};

class MultiGpuHoloContext {
 public:
  // Devices of one kind, at least one (`invalid_argument`). Where they can, they are allowed to use
  // each other's memory; where not, copies go through the host.
  static Result<std::unique_ptr<MultiGpuHoloContext>> create(
      const std::vector<device::Device*>& devices);

  size_t devices() const { return contexts_.size(); }
  // The device that results are on.
  device::Device& primary() const { return contexts_.front()->device(); }

  Result<GpuAccumulator> accumulate(const TensorDescription& description,
                                    std::span<const NumberedPart> parts);
  Result<device::Buffer> reconstruct(const TensorDescription& description,
                                     std::span<const NumberedPart> parts);
  // Where the accumulator of accumulate() belongs.
  GpuHoloContext& context() const { return *contexts_.front(); }

 private:
  explicit MultiGpuHoloContext(std::vector<std::unique_ptr<GpuHoloContext>> contexts)
      : contexts_(std::move(contexts)) {}

  std::vector<std::unique_ptr<GpuHoloContext>> contexts_;
};

}  // namespace hoist::tensors
