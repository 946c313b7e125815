#include "service/open_gpus.h"

#include <algorithm>

#include "device/device.h"

namespace hoist::service {

std::vector<GpuFacts> open_gpus(std::span<const NodeFacts> nodes) {
  // To list devices starts the driver, which a service without a GPU never does.
  const bool uses_any = std::any_of(nodes.begin(), nodes.end(), [](const NodeFacts& node) {
    return !node.device_memory.empty();
  });
  std::vector<GpuFacts> gpus;
  if (!uses_any) return gpus;
  for (device::Device* const device : device::devices()) {
    const device::DeviceProperties& properties = device->properties();
    const std::string id = properties.id();
    const bool is_used = std::any_of(nodes.begin(), nodes.end(), [&](const NodeFacts& node) {
      return node.device_memory.contains(id);
    });
    if (!is_used) continue;
    const auto memory = device->memory();
    if (memory) gpus.push_back({id, properties.name, memory->used, memory->total});
  }
  return gpus;
}

}  // namespace hoist::service
