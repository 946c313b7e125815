#include "device/module.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "device/kernel.h"
#include "device/module_launch.h"

namespace hoist::device {
namespace {

constinit const Kernel<const ModuleImage*, void**> load_image("hoist_cuda_module_load",
                                                              "load kernels");
constinit const Kernel<void*> unload_module("hoist_cuda_module_unload", "unload kernels");
constinit const Kernel<void*, const char*, void**> find_function("hoist_cuda_module_function",
                                                                 "find a kernel");
constinit const Kernel<const ModuleLaunch*> launch_function("hoist_cuda_module_launch",
                                                            "launch a kernel");

// Numbers of CUresult (cuda.h).
constexpr int kInvalidImage = 200;
constexpr int kNoBinaryForGpu = 209;
constexpr int kInvalidPtx = 218;
constexpr int kUnsupportedPtxVersion = 222;
constexpr int kInvalidSource = 300;
constexpr int kNotFound = 500;

bool is_refused_code(int error) {
  constexpr std::array kRefused = {kInvalidImage, kNoBinaryForGpu, kInvalidPtx,
                                   kUnsupportedPtxVersion, kInvalidSource};
  return std::ranges::count(kRefused, error) > 0;
}

// Whether a cubin is whole, as far as its header says: the driver is not told where it ends.
bool is_whole_cubin(std::span<const std::byte> code) {
  Elf64_Ehdr header;
  if (code.size() < sizeof header) return false;
  std::memcpy(&header, code.data(), sizeof header);
  const auto fits = [&](uint64_t begin, uint64_t count, uint64_t each) {
    return begin <= code.size() && count * each <= code.size() - begin;
  };
  return header.e_ident[EI_CLASS] == ELFCLASS64 &&
         fits(header.e_shoff, header.e_shnum, header.e_shentsize) &&
         fits(header.e_phoff, header.e_phnum, header.e_phentsize);
}

Status check_code(std::span<const std::byte> code) {
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  if (text.starts_with(ELFMAG)) {
    if (is_whole_cubin(code)) return {};
    return fail(ErrorCode::invalid_argument, "load kernels: a cubin that is not whole");
  }
  // Some compilers end PTX with NULs.
  const bool is_text = text.find('\0') > text.find_last_not_of('\0');
  if (is_text && text.find(".version") != std::string_view::npos) return {};
  return fail(ErrorCode::invalid_argument, "load kernels: the code is neither PTX nor a cubin");
}

}  // namespace

// Unloaded where it was loaded; a child after fork() leaves it to its parent.
class LoadedModule {
 public:
  LoadedModule(Device& device, void* module) : device_(device), module_(module) {}
  ~LoadedModule() { (void)unload_module.launch(device_, {}, module_); }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  Device& device() const { return device_; }
  void* module() const { return module_; }

 private:
  Device& device_;
  void* const module_;
};

Result<Module> Module::load(Device& device, std::span<const std::byte> code) {
  if (Status known = check_code(code); !known) return known.error();
  if (Status can = load_image.check(device); !can) return can.error();
  // With the NUL that ends PTX.
  const std::string image(reinterpret_cast<const char*>(code.data()), code.size());
  std::array<char, 4096> log = {};
  const ModuleImage asked = {image.c_str(), log.data(), log.size() - 1};
  void* module = nullptr;
  const Result<int> error = load_image.call(device, {}, &asked, &module);
  if (!error) return error.error();
  if (*error == 0) return Module(std::make_shared<LoadedModule>(device, module));
  const Status failed = cuda_status(*error, "load kernels");
  if (!is_refused_code(*error)) return failed.error();
  std::string why = failed.error().message;
  if (log[0] != '\0') why += fmt::format(": {}", log.data());
  return fail(ErrorCode::invalid_argument, std::move(why));
}

Result<ModuleKernel> Module::kernel(const std::string& name) const {
  void* function = nullptr;
  const Result<int> error =
      find_function.call(module_->device(), {}, module_->module(), name.c_str(), &function);
  if (!error) return error.error();
  if (*error == kNotFound) {
    return fail(ErrorCode::not_found, fmt::format("the code has no kernel {}", name));
  }
  if (Status found = cuda_status(*error, fmt::format("find the kernel {}", name)); !found) {
    return found.error();
  }
  return ModuleKernel(module_, name, function);
}

Status ModuleKernel::launch(const Stream& stream, const LaunchShape& shape,
                            std::span<void* const> arguments) const {
  Device& device = module_->device();
  if (&stream.device() != &device) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} was loaded for {}, the stream is {}'s", name_,
                            device.properties().id(), stream.device().properties().id()));
  }
  const ModuleLaunch launch = {.function = function_,
                               .blocks = {shape.blocks.x, shape.blocks.y, shape.blocks.z},
                               .threads = {shape.threads.x, shape.threads.y, shape.threads.z},
                               .shared_bytes = shape.shared_bytes,
                               .arguments = const_cast<void**>(arguments.data())};
  const Result<int> error = launch_function.call(device, stream.handle(), &launch);
  if (!error) return error.error();
  if (*error == 0) return {};
  return cuda_status(*error, fmt::format("launch {}", name_));
}

}  // namespace hoist::device
