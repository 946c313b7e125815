#include <atomic>
#include <cstddef>

#include "device/driver_entry.h"
#include "device/on_device.h"

namespace hoist::device {
namespace {

struct Driver {
  decltype(&cuDeviceGet) get = HOIST_DRIVER_ENTRY(cuDeviceGet);
  decltype(&cuDevicePrimaryCtxRetain) retain = HOIST_DRIVER_ENTRY(cuDevicePrimaryCtxRetain);
  decltype(&cuCtxGetCurrent) current = HOIST_DRIVER_ENTRY(cuCtxGetCurrent);
  decltype(&cuCtxPushCurrent) push = HOIST_DRIVER_ENTRY(cuCtxPushCurrent);
  decltype(&cuCtxPopCurrent) pop = HOIST_DRIVER_ENTRY(cuCtxPopCurrent);

  bool is_whole() const {
    return get != nullptr && retain != nullptr && current != nullptr && push != nullptr &&
           pop != nullptr;
  }
};

const Driver& driver() {
  static const Driver functions;
  return functions;
}

constexpr size_t kMostDevices = 128;
std::atomic<CUcontext> contexts[kMostDevices];

bool is_valid(int device) { return device >= 0 && static_cast<size_t>(device) < kMostDevices; }

// Kept until the process ends, as the runtime keeps it.
int retain_context(int device, CUcontext* context) {
  if (!is_valid(device)) return cudaErrorInvalidDevice;
  std::atomic<CUcontext>& known = contexts[device];
  *context = known.load(std::memory_order_acquire);
  if (*context != nullptr) return 0;
  CUdevice handle = 0;
  int error = driver().get(&handle, device);
  if (error == 0) error = driver().retain(context, handle);
  if (error == 0) known.store(*context, std::memory_order_release);
  return error;
}

}  // namespace

bool has_context(int device) {
  return is_valid(device) && contexts[device].load(std::memory_order_acquire) != nullptr;
}

CurrentDevice::CurrentDevice(int device) {
  const Driver& calls = driver();
  if (!calls.is_whole()) {
    error_ = cudaErrorNotSupported;
    return;
  }
  CUcontext primary = nullptr;
  CUcontext current = nullptr;
  error_ = retain_context(device, &primary);
  if (error_ == 0) error_ = calls.current(&current);
  if (error_ != 0 || current == primary) return;
  error_ = calls.push(primary);
  pushed_ = error_ == 0;
}

CurrentDevice::~CurrentDevice() {
  CUcontext popped = nullptr;
  if (pushed_) (void)driver().pop(&popped);
}

}  // namespace hoist::device
