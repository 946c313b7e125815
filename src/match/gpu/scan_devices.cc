#include "match/gpu/scan_devices.h"

#include <fmt/core.h>

#include <algorithm>

namespace hoist::match {

Result<std::unique_ptr<GpuScan>> make_gpu_scan(std::string_view names) {
  if (names == "cpu" || names == "auto") return nullptr;
  std::vector<std::string_view> list;
  for (size_t at = 0; at <= names.size(); at += list.back().size() + 1) {
    list.push_back(names.substr(at, names.find(',', at) - at));
    if (list.back().starts_with("cuda:")) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("no such device ({}): give auto, cpu, cuda:N or cuda:N,cuda:M", names));
  }
  std::vector<device::Device*> devices;
  for (const std::string_view name : list) {
    const Result<device::Device*> device = device::find_device(name);
    if (!device) return tl::unexpected(device.error());
    if (std::find(devices.begin(), devices.end(), *device) == devices.end()) {
      devices.push_back(*device);
    }
  }
  return std::make_unique<GpuScan>(devices);
}

}  // namespace hoist::match
