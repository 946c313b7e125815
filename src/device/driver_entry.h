// Calls of the driver that the runtime has none for. The driver's results are the runtime's, by
// their numbers.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

namespace hoist::device {

// Null where the driver, which the runtime has loaded, has no such function. Unlike
// cudaGetDriverEntryPoint() this asks nothing of the runtime, which might make a context.
template <typename Function>
Function* driver_entry(const char* name) {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  return driver != nullptr ? reinterpret_cast<Function*>(::dlsym(driver, name)) : nullptr;
}

}  // namespace hoist::device

#define HOIST_TEXT_OF(name) #name
// `function` as cuda.h declares it: there it is a macro for the version that the header describes.
#define HOIST_DRIVER_ENTRY(function) \
  ::hoist::device::driver_entry<decltype(function)>(HOIST_TEXT_OF_VALUE(function))
#define HOIST_TEXT_OF_VALUE(name) HOIST_TEXT_OF(name)
