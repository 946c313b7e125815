#include "python/device_array.h"

#include <utility>

namespace nb = nanobind;

namespace hoist::python {

DeviceArray device_array(std::byte* data, size_t size, std::shared_ptr<device::Buffer> memory) {
  using Memory = std::shared_ptr<device::Buffer>;
  const device::DeviceProperties& device = memory->device()->properties();
  nb::capsule owner(new Memory(std::move(memory)),
                    [](void* it) noexcept { delete static_cast<Memory*>(it); });
  const bool cuda = device.kind == device::DeviceKind::cuda;
  return DeviceArray(data, 1, &size, owner, nullptr, nb::dtype<uint8_t>(),
                     cuda ? nb::device::cuda::value : nb::device::cpu::value, device.index);
}

}  // namespace hoist::python
