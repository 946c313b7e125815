#include "device/cuda_plugin.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/child_exit.h"
#include "base/fork.h"
#include "base/option_values.h"
#include "base/options.h"
#include "device/cuda_driver.h"

namespace hoist::device {
namespace {

// driver_types.h
constexpr int kCudaErrorMemoryAllocation = 2;
constexpr int kCudaErrorNotSupported = 801;

// lib/ of the tree that this code is in: a program's (PREFIX/bin, PREFIX/tests,
// PREFIX/libexec/hoist), or a library's in lib/ itself, in somebody else's program.
std::filesystem::path find_plugin() {
  std::error_code ignored;
  std::vector<std::filesystem::path> places = {
      std::filesystem::read_symlink("/proc/self/exe", ignored)};
  Dl_info own;  // of a program: its name as it was called, which may lead anywhere
  if (::dladdr(reinterpret_cast<const void*>(&find_plugin), &own) != 0) {
    places.insert(places.begin(), std::filesystem::canonical(own.dli_fname, ignored));
  }
  for (const std::filesystem::path& place : places) {
    for (const char* folder : {".", "../lib", "../../lib"}) {
      std::filesystem::path path = place.parent_path() / folder / "libhoist_cuda.so";
      if (std::filesystem::exists(path, ignored)) return path;
    }
  }
  return {};
}

Result<void*> load_plugin() {
  const auto unavailable = [](std::string why) {
    return fail(ErrorCode::unavailable, "no CUDA: " + std::move(why));
  };
  if (hoist_is_off()) return unavailable("HOIST=off");
  if (gpu_use() == HOIST_GPU_OFF) return unavailable("HOIST_GPU=off");
  const CudaDevices devices = find_cuda_devices();
  if (devices.devices.empty()) return unavailable(devices.why);
  const std::filesystem::path path = find_plugin();
  if (path.empty()) return unavailable("this build has no libhoist_cuda.so (no CUDA toolkit)");
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays loaded
  if (library == nullptr) return unavailable(::dlerror());
  const auto needed = reinterpret_cast<int (*)()>(::dlsym(library, "hoist_cuda_runtime_version"));
  if (needed == nullptr) return unavailable(path.string() + " is of another build");
  // A driver serves every runtime of its major version (CUDA's minor version compatibility).
  if (devices.driver_version / 1000 < needed() / 1000) {
    return unavailable(fmt::format("the driver knows CUDA {}.{}, this build needs {}.0: update it",
                                   devices.driver_version / 1000,
                                   devices.driver_version % 1000 / 10, needed() / 1000));
  }
  // The CUDA runtime's own exit handlers, registered just now, fault in a child.
  end_children_before_exit_handlers();
  return library;
}

struct Plugin {
  const OwnerProcess process;
  const Result<void*> library = load_plugin();
};

Result<void*> plugin() {
  static const Plugin loaded;
  if (!loaded.library || loaded.process.is_not_forked()) return loaded.library;
  return fail(ErrorCode::unavailable,
              "no CUDA in a fork of a process that has loaded it: use it there, or in a process "
              "that is started anew");
}

}  // namespace

Status cuda_available() {
  const Result<void*> library = plugin();
  if (!library) return library.error();
  return {};
}

Result<void*> cuda_symbol(const char* name) {
  const Result<void*> library = plugin();
  if (!library) return library;
  void* const symbol = ::dlsym(*library, name);
  if (symbol == nullptr) {
    return fail(ErrorCode::internal, fmt::format("libhoist_cuda.so has no {}", name));
  }
  return symbol;
}

Status cuda_status(int error, std::string_view what) {
  if (error == 0) return {};
  std::string text = fmt::format("error {}", error);
  if (const auto describe = cuda_function<const char*(int)>("hoist_cuda_error_text"); describe) {
    text = (*describe)(error);
  }
  const ErrorCode code = error == kCudaErrorMemoryAllocation ? ErrorCode::exhausted
                         : error == kCudaErrorNotSupported   ? ErrorCode::unsupported
                                                             : ErrorCode::internal;
  return fail(code, fmt::format("{}: {} (CUDA)", what, text));
}

}  // namespace hoist::device
