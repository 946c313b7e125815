// How src/device/module.cc asks the plug-in for code that is made while the program runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::device {

// A CUmodule and CUfunction of the driver are void* here.
struct ModuleImage {
  const void* data;  // a cubin, or PTX with a NUL behind it
  char* log;         // gets what the assembler has to say about PTX, NUL-terminated
  size_t log_size;
};

struct ModuleLaunch {
  void* function;
  uint32_t blocks[3];
  uint32_t threads[3];
  uint32_t shared_bytes;
  void** arguments;  // as many as the function has parameters
};

}  // namespace hoist::device
