#include <map>
#include <mutex>

#include "device/driver_entry.h"
#include "device/on_device.h"

namespace hoist::device {
namespace {

struct Driver {
  decltype(&cuDeviceGet) get = HOIST_DRIVER_ENTRY(cuDeviceGet);
  decltype(&cuDevicePrimaryCtxRetain) retain = HOIST_DRIVER_ENTRY(cuDevicePrimaryCtxRetain);
  decltype(&cuCtxPushCurrent) push = HOIST_DRIVER_ENTRY(cuCtxPushCurrent);
  decltype(&cuCtxPopCurrent) pop = HOIST_DRIVER_ENTRY(cuCtxPopCurrent);
};

const Driver& driver() {
  static const Driver functions;
  return functions;
}

// Kept until the process ends, as the runtime keeps it.
int retain_context(int device, CUcontext* context) {
  static std::mutex mutex;
  static std::map<int, CUcontext> contexts;
  const std::lock_guard lock(mutex);
  if (const auto found = contexts.find(device); found != contexts.end()) {
    *context = found->second;
    return 0;
  }
  CUdevice handle = 0;
  int error = driver().get(&handle, device);
  if (error == 0) error = driver().retain(context, handle);
  if (error == 0) contexts[device] = *context;
  return error;
}

}  // namespace

CurrentDevice::CurrentDevice(int device) {
  int before = 0;
  error_ = cudaGetDevice(&before);
  if (error_ != 0 || before == device) return;
  const Driver& calls = driver();
  if (calls.get == nullptr || calls.retain == nullptr || calls.push == nullptr ||
      calls.pop == nullptr) {
    error_ = cudaErrorNotSupported;
    return;
  }
  CUcontext context = nullptr;
  error_ = retain_context(device, &context);
  if (error_ == 0) error_ = calls.push(context);
  pushed_ = error_ == 0;
}

CurrentDevice::~CurrentDevice() {
  CUcontext popped = nullptr;
  if (pushed_) (void)driver().pop(&popped);
}

}  // namespace hoist::device
