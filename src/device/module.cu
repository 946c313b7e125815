// Modules of the driver, in the primary context, which the runtime uses, too.
#include "device/driver_entry.h"
#include "device/module_launch.h"
#include "device/on_device.h"

namespace hoist::device {
namespace {

struct Driver {
  decltype(&cuModuleLoadDataEx) load = HOIST_DRIVER_ENTRY(cuModuleLoadDataEx);
  decltype(&cuModuleUnload) unload = HOIST_DRIVER_ENTRY(cuModuleUnload);
  decltype(&cuModuleGetFunction) get_function = HOIST_DRIVER_ENTRY(cuModuleGetFunction);
  decltype(&cuFuncGetAttribute) get_attribute = HOIST_DRIVER_ENTRY(cuFuncGetAttribute);
  decltype(&cuFuncSetAttribute) set_attribute = HOIST_DRIVER_ENTRY(cuFuncSetAttribute);
  decltype(&cuLaunchKernel) launch = HOIST_DRIVER_ENTRY(cuLaunchKernel);

  bool is_whole() const {
    return load != nullptr && unload != nullptr && get_function != nullptr &&
           get_attribute != nullptr && set_attribute != nullptr && launch != nullptr;
  }
};

// Null where the driver is older than these functions.
const Driver* driver() {
  static const Driver functions;
  return functions.is_whole() ? &functions : nullptr;
}

// All of the shared memory that a block may have, instead of the 48 KiB that every GPU allows.
int allow_shared_memory(int device, CUfunction function) {
  int most = 0;
  cudaError_t error =
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  int fixed = 0;
  int result = driver()->get_attribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
  if (result != 0) return result;
  return driver()->set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 most > fixed ? most - fixed : 0);
}

}  // namespace
}  // namespace hoist::device

extern "C" {

using hoist::device::driver;
using hoist::device::on_device;

int hoist_cuda_module_load(int device, void*, const hoist::device::ModuleImage* image,
                           void** module) {
  if (driver() == nullptr) return cudaErrorNotSupported;
  return on_device(device, [=]() -> int {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {image->log, reinterpret_cast<void*>(image->log_size)};
    return driver()->load(reinterpret_cast<CUmodule*>(module), image->data, 2, options, values);
  });
}

// Waits for all work of the device, which may be the module's.
int hoist_cuda_module_unload(int device, void*, void* module) {
  return on_device(device, [=]() -> int {
    const cudaError_t waited = cudaDeviceSynchronize();
    if (waited != cudaSuccess) return waited;
    return driver()->unload(static_cast<CUmodule>(module));
  });
}

int hoist_cuda_module_function(int device, void*, void* module, const char* name, void** function) {
  return on_device(device, [=]() -> int {
    CUfunction found = nullptr;
    int result = driver()->get_function(&found, static_cast<CUmodule>(module), name);
    if (result == 0) result = hoist::device::allow_shared_memory(device, found);
    if (result == 0) *function = found;
    return result;
  });
}

int hoist_cuda_module_launch(int device, void* stream, const hoist::device::ModuleLaunch* launch) {
  return on_device(device, [=]() -> int {
    const uint32_t* const blocks = launch->blocks;
    const uint32_t* const threads = launch->threads;
    return driver()->launch(static_cast<CUfunction>(launch->function), blocks[0], blocks[1],
                            blocks[2], threads[0], threads[1], threads[2], launch->shared_bytes,
                            static_cast<CUstream>(stream), launch->arguments, nullptr);
  });
}

}  // extern "C"
