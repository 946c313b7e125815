#include "px/compile/nvrtc.h"

#include <dlfcn.h>
#include <fmt/core.h>

namespace hoist::px {
namespace {

constexpr size_t kLongestMessage = 4000;

// The functions of nvrtc.h; each gives 0 where all went well.
using NvrtcProgram = void*;
struct Nvrtc {
  int (*version)(int* major, int* minor);
  int (*create)(NvrtcProgram* program, const char* text, const char* name, int headers,
                const char* const* header_texts, const char* const* header_names);
  int (*compile)(NvrtcProgram program, int options, const char* const* option_texts);
  int (*destroy)(NvrtcProgram* program);
  int (*log_size)(NvrtcProgram program, size_t* size);
  int (*log)(NvrtcProgram program, char* text);
  int (*cubin_size)(NvrtcProgram program, size_t* size);
  int (*cubin)(NvrtcProgram program, char* code);
  int (*ptx_size)(NvrtcProgram program, size_t* size);
  int (*ptx)(NvrtcProgram program, char* code);
};

bool find_functions(void* library, Nvrtc& found) {
  const auto find = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  return find(found.version, "nvrtcVersion") && find(found.create, "nvrtcCreateProgram") &&
         find(found.compile, "nvrtcCompileProgram") && find(found.destroy, "nvrtcDestroyProgram") &&
         find(found.log_size, "nvrtcGetProgramLogSize") && find(found.log, "nvrtcGetProgramLog") &&
         find(found.cubin_size, "nvrtcGetCUBINSize") && find(found.cubin, "nvrtcGetCUBIN") &&
         find(found.ptx_size, "nvrtcGetPTXSize") && find(found.ptx, "nvrtcGetPTX");
}

// Loaded once, for as long as the process lives; null: there is none.
const Nvrtc* nvrtc() {
  static const Nvrtc* const found = []() -> const Nvrtc* {
    for (const char* name :
         {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
      void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (!library) continue;
      static Nvrtc functions;
      if (find_functions(library, functions)) return &functions;
      ::dlclose(library);
    }
    return nullptr;
  }();
  return found;
}

Error missing() {
  return fail(ErrorCode::unavailable,
              "NVRTC (libnvrtc.so) is not installed: kernels for GPUs need it");
}

std::string log_of(const Nvrtc& nvrtc, NvrtcProgram program) {
  size_t size = 0;
  if (nvrtc.log_size(program, &size) != 0 || size == 0) return {};
  std::string text(size, '\0');
  if (nvrtc.log(program, text.data()) != 0) return {};
  return text.substr(0, std::min(text.find('\0'), kLongestMessage));
}

}  // namespace

Result<std::string> nvrtc_version() {
  const Nvrtc* const found = nvrtc();
  int major = 0;
  int minor = 0;
  if (!found || found->version(&major, &minor) != 0) return missing();
  return fmt::format("{}.{}", major, minor);
}

Result<std::vector<std::byte>> compile_cuda(const std::string& text,
                                            const std::string& architecture,
                                            const std::vector<std::string>& options) {
  const Nvrtc* const found = nvrtc();
  if (!found) return missing();
  NvrtcProgram program = nullptr;
  if (found->create(&program, text.c_str(), "kernels.cu", 0, nullptr, nullptr) != 0) {
    return fail(ErrorCode::internal, "NVRTC takes no program");
  }
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> words = {target.c_str()};
  for (const std::string& option : options) words.push_back(option.c_str());
  const bool is_ptx = architecture.starts_with("compute_");
  std::vector<std::byte> code;
  size_t size = 0;
  bool compiled = found->compile(program, static_cast<int>(words.size()), words.data()) == 0 &&
                  (is_ptx ? found->ptx_size : found->cubin_size)(program, &size) == 0;
  if (compiled) {
    code.resize(size);
    compiled =
        (is_ptx ? found->ptx : found->cubin)(program, reinterpret_cast<char*>(code.data())) == 0;
  }
  const std::string log = compiled ? std::string() : log_of(*found, program);
  found->destroy(&program);
  if (!compiled) {
    return fail(ErrorCode::internal, fmt::format("NVRTC does not compile the kernels: {}", log));
  }
  return code;
}

}  // namespace hoist::px
