// Kernels that are made while the program runs: machine code (a cubin) or PTX in memory.
//
//   Result<Module> module = Module::load(device, code);
//   Result<ModuleKernel> scale = module->kernel("scale");
//   float* data = …; uint32_t count = …;
//   void* arguments[] = {&data, &count};
//   Status launched = scale->launch(stream, {.blocks = {64}, .threads = {256}}, arguments);
//
// Kernels that are built with Hoist are device/kernel.h's; ModuleCache (device/module_cache.h)
// keeps code on the disk. Thread-safe; modules and kernels are cheap to copy, and the code is
// unloaded when the last of them goes. That waits for the device's work.
//
// Errors: `unsupported` on a device that is no CUDA GPU, `invalid_argument` for code that is none,
// that is another GPU's, or that the assembler refuses, with what it says; `not_found` for a name;
// else those of device/kernel.h. Code is believed: it can do to the process's device memory
// whatever it likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "device/stream.h"

namespace hoist::device {

struct Extent {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

struct LaunchShape {
  Extent blocks = {};
  Extent threads = {};  // of a block
  uint32_t shared_bytes = 0;
};

class LoadedModule;

class ModuleKernel {
 public:
  // `arguments`: where each of the kernel's parameters lies, all of them, in their order; read
  // before this returns. The stream is of the module's device.
  Status launch(const Stream& stream, const LaunchShape& shape,
                std::span<void* const> arguments) const;

 private:
  friend class Module;
  ModuleKernel(std::shared_ptr<const LoadedModule> module, std::string name, void* function)
      : module_(std::move(module)), name_(std::move(name)), function_(function) {}

  std::shared_ptr<const LoadedModule> module_;
  std::string name_;
  void* function_;
};

class Module {
 public:
  // `code` may go afterwards.
  static Result<Module> load(Device& device, std::span<const std::byte> code);

  // A function of the code that is extern "C" and __global__ (.visible .entry in PTX).
  Result<ModuleKernel> kernel(const std::string& name) const;

 private:
  explicit Module(std::shared_ptr<const LoadedModule> module) : module_(std::move(module)) {}

  std::shared_ptr<const LoadedModule> module_;
};

}  // namespace hoist::device
