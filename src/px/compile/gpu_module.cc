#include "px/compile/gpu_module.h"

#include <fmt/core.h>

#include <array>

#include "device/module_cache.h"
#include "px/compile/nvrtc.h"
#include "px/emit/cuda.h"

namespace hoist::px {
namespace {

// The sizes of blocks that code is made for.
constexpr std::array<uint32_t, 2> kMostThreads = {256, ir::kMostThreads};

uint32_t class_of(uint32_t threads) {
  return threads <= kMostThreads[0] ? kMostThreads[0] : kMostThreads[1];
}

Result<std::vector<std::byte>> code_for(const device::Device& device, const std::string& text,
                                        uint32_t most_threads) {
  const device::DeviceProperties& properties = device.properties();
  const std::string architecture =
      fmt::format("sm_{}{}", properties.compute_major, properties.compute_minor);
  const Result<std::string> version = nvrtc_version();
  if (!version) return version.error();
  const std::vector<std::string> options = cuda_options(most_threads);
  std::vector<std::string> identity = options;
  identity.push_back("nvrtc " + *version);
  const device::ModuleCache::Key key = device::ModuleCache::key({text, architecture, identity});
  const Result<device::ModuleCache> cache = device::ModuleCache::open();
  if (cache) {
    if (Result<std::vector<std::byte>> kept = cache->find(key)) return kept;
  }
  Result<std::vector<std::byte>> code = compile_cuda(text, architecture, options);
  if (code && cache) (void)cache->put(key, *code);
  return code;
}

}  // namespace

std::vector<std::string> cuda_options(uint32_t most_threads) {
  return {"--std=c++17", "--fmad=false", "--disable-warnings",
          fmt::format("-DPX_MOST_THREADS={}", most_threads)};
}

Result<std::unique_ptr<GpuModule>> GpuModule::compile(device::Device& device, std::string text) {
  std::unique_ptr<GpuModule> made(new GpuModule(device, std::move(text)));
  if (const auto first = made->module_for(1); !first) return first.error();
  return made;
}

Result<const device::Module*> GpuModule::module_for(uint32_t threads) {
  const std::scoped_lock lock(mutex_);
  const uint32_t most = class_of(threads);
  const auto found = modules_.find(most);
  if (found != modules_.end()) return &found->second;
  const Result<std::vector<std::byte>> code = code_for(device_, text_, most);
  if (!code) return code.error();
  Result<device::Module> loaded = device::Module::load(device_, *code);
  if (!loaded) return loaded.error();
  return &modules_.emplace(most, *std::move(loaded)).first->second;
}

Result<const device::ModuleKernel*> GpuModule::find(const std::string& entry, uint32_t threads) {
  const Result<const device::Module*> module = module_for(threads);
  if (!module) return module.error();
  const std::scoped_lock lock(mutex_);
  const std::pair key(class_of(threads), entry);
  const auto found = kernels_.find(key);
  if (found != kernels_.end()) return &found->second;
  Result<device::ModuleKernel> kernel = (*module)->kernel(entry);
  if (!kernel) return kernel.error();
  return &kernels_.emplace(key, *std::move(kernel)).first->second;
}

Status GpuModule::launch(const device::Stream& stream, const ir::Kernel& kernel,
                         const ir::Grid& grid, std::span<const ir::Argument> arguments,
                         void* fault) {
  if (grid.block_count() == 0) return {};
  const Result<const device::ModuleKernel*> found =
      find(cuda_entry_name(kernel), grid.block_threads());
  if (!found) return found.error();
  std::vector<ir::Argument> values(arguments.begin(), arguments.end());
  std::vector<void*> pointers;
  for (size_t i = 0; i < values.size(); ++i) {
    if (kernel.arguments[i].array) {
      pointers.push_back(&values[i].data);
      pointers.push_back(&values[i].length);
    } else {
      pointers.push_back(&values[i].bits);  // little-endian: a narrow one lies at the beginning
    }
  }
  if (fault) pointers.push_back(&fault);
  const auto extent = [](const std::array<uint32_t, 3>& of) {
    return device::Extent{of[0], of[1], of[2]};
  };
  return (*found)->launch(stream, {.blocks = extent(grid.blocks), .threads = extent(grid.threads)},
                          pointers);
}

}  // namespace hoist::px
