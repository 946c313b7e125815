// Compiled kernels on a GPU: emitted CUDA (px/emit/cuda.h), by NVRTC or from the cache.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "device/module.h"
#include "ir/launch.h"
#include "px/emit/cpp.h"

namespace hoist::px {

// The options that emitted CUDA is compiled with, for blocks of at most that many threads.
std::vector<std::string> cuda_options(uint32_t most_threads);

// Thread-safe. Code for small blocks, which may have more registers, and for large ones is made
// when it is first needed; the former at once, so that what the compiler refuses is known.
class GpuModule {
 public:
  static Result<std::unique_ptr<GpuModule>> compile(device::Device& device, std::string text);

  // `fault`: memory of the device for a px::fault where the code is checked, else null.
  Status launch(const device::Stream& stream, const ir::Kernel& kernel, const ir::Grid& grid,
                std::span<const ir::Argument> arguments, void* fault);

  // The function of a kernel (px/emit/cuda.h), for blocks of so many threads. It lives as long as
  // the module.
  Result<const device::ModuleKernel*> find(const std::string& entry, uint32_t threads);

 private:
  GpuModule(device::Device& device, std::string text) : device_(device), text_(std::move(text)) {}
  Result<const device::Module*> module_for(uint32_t threads);

  device::Device& device_;
  const std::string text_;
  std::mutex mutex_;
  std::map<uint32_t, device::Module> modules_;  // by the most threads of a block
  std::map<std::pair<uint32_t, std::string>, device::ModuleKernel> kernels_;
};

}  // namespace hoist::px
