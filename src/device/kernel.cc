#include "device/kernel.h"

#include <fmt/core.h>

namespace hoist::device {

Result<void*> PluginFunction::find(const Device& device) const {
  if (device.properties().kind != DeviceKind::cuda) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: {} is no CUDA device", what_, device.properties().id()));
  }
  // Both also know a child that must not use what its parent has loaded.
  if (Status usable = device.status(); !usable) return usable.error();
  if (Status available = cuda_available(); !available) return available.error();
  if (void* const found = found_.load(std::memory_order_acquire)) return found;
  const Result<void*> symbol = cuda_symbol(name_);
  if (symbol) found_.store(*symbol, std::memory_order_release);
  return symbol;
}

Status run_on_host(Device& device, StreamHandle stream, std::function<void()> work) {
  if (stream.pointer != nullptr) return device.call(stream, std::move(work));
  work();
  return {};
}

}  // namespace hoist::device
