#include "device/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/core.h>

namespace hoist::device {

CudaDevices find_cuda_devices() {
  CudaDevices found;
  // Never closed: the driver does not like to be unloaded.
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    found.why = "no driver: libcuda.so.1 is not installed";
    return found;
  }
  // The driver API's own signatures; CUresult and CUdevice are ints (cuda.h).
  const auto init = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  const auto count_devices = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDeviceGetCount"));
  const auto get_device = reinterpret_cast<int (*)(int*, int)>(::dlsym(driver, "cuDeviceGet"));
  const auto get_name =
      reinterpret_cast<int (*)(char*, int, int)>(::dlsym(driver, "cuDeviceGetName"));
  if (init == nullptr || count_devices == nullptr || get_device == nullptr || get_name == nullptr) {
    found.why = "libcuda.so.1 is not a CUDA driver";
    return found;
  }
  if (const int result = init(0); result != 0) {
    found.why = fmt::format("the driver answers with error {} to cuInit", result);
    return found;
  }
  int count = 0;
  if (count_devices(&count) != 0 || count <= 0) {
    found.why = "the driver sees no device";
    return found;
  }
  for (int i = 0; i < count; ++i) {
    int device = 0;
    char name[256] = "";
    if (get_device(&device, i) == 0 && get_name(name, sizeof name, device) == 0) {
      found.names.emplace_back(name);
    }
  }
  return found;
}

}  // namespace hoist::device
