// The CUDA plug-in: lib/libhoist_cuda.so holds every kernel and the only link to the CUDA runtime.
// It is loaded at the first use, where a driver answers; everything else is built and runs without
// CUDA. Functions of the plug-in are extern "C" and named hoist_cuda_…. Those that put work on a
// stream are called through a Kernel (device/kernel.h).
//
// Thread-safe. The first use creates the context of device 0 (0.26 s), so this never happens inside
// a program that was preloaded; nor is a context usable in a child after fork(): all of this is
// `unavailable` in a child whose parent has loaded the plug-in. So ask cuda_available() before a
// function that was kept is called again; that takes less than a microsecond.
#pragma once

#include <string_view>

#include "base/result.h"

namespace hoist::device {

// Whether the plug-in is there and a device answers; else `unavailable` with the reason: HOIST=off
// or HOIST_GPU=off, no driver, no device, no plug-in in the tree.
Status cuda_available();

// A function of the plug-in by its name; `unavailable` as above, `internal` where it has no such.
Result<void*> cuda_symbol(const char* name);

template <typename Function>
Result<Function*> cuda_function(const char* name) {
  const Result<void*> symbol = cuda_symbol(name);
  if (!symbol) return symbol.error();
  return reinterpret_cast<Function*>(*symbol);
}

// What a cudaError_t says; `what` names the operation. Out of memory is `exhausted`, the rest
// `internal`.
Status cuda_status(int error, std::string_view what);

}  // namespace hoist::device
