#include <fmt/core.h>

#include <charconv>
#include <memory>

#include "device/cpu_device.h"
#include "device/cuda_device.h"
#include "device/cuda_driver.h"
#include "device/cuda_plugin.h"
#include "device/device.h"

namespace hoist::device {
namespace {

// Never destroyed: threads may use devices while static destructors run.
const std::vector<std::unique_ptr<CudaDevice>>& cuda_devices() {
  static const auto* const list = [] {
    auto* made = new std::vector<std::unique_ptr<CudaDevice>>;
    const auto calls = cuda_function<const CudaCalls*()>("hoist_cuda_calls");
    if (!calls) return made;
    for (DeviceProperties& properties : find_cuda_devices().devices) {
      made->push_back(std::make_unique<CudaDevice>(std::move(properties), *(*calls)()));
    }
    return made;
  }();
  return *list;
}

}  // namespace

std::string DeviceProperties::id() const {
  if (kind == DeviceKind::remote) return "remote";
  return kind == DeviceKind::cpu ? "cpu" : fmt::format("cuda:{}", index);
}

Device& cpu_device() {
  static CpuDevice* const cpu = new CpuDevice;
  return *cpu;
}

Result<Device*> cuda_device(int index) {
  if (Status available = cuda_available(); !available) return available.error();
  const auto& list = cuda_devices();
  if (index < 0 || static_cast<size_t>(index) >= list.size()) {
    return fail(ErrorCode::not_found,
                fmt::format("no device cuda:{}: there are {}", index, list.size()));
  }
  return list[static_cast<size_t>(index)].get();
}

std::vector<Device*> devices() {
  std::vector<Device*> list = {&cpu_device()};
  for (const auto& device : cuda_devices()) list.push_back(device.get());
  return list;
}

Result<Device*> find_device(std::string_view name) {
  if (name == "cpu") return &cpu_device();
  if (name == "cuda") return cuda_device();
  if (name == "auto") {
    const Result<Device*> cuda = cuda_device();
    return cuda ? *cuda : &cpu_device();
  }
  if (name.starts_with("cuda:")) {
    int index = -1;
    const std::string_view digits = name.substr(5);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), index);
    if (error == std::errc() && end == digits.end()) return cuda_device(index);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("no such kind of device ({}): give auto, cpu, cuda or cuda:N", name));
}

}  // namespace hoist::device
