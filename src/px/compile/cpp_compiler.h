// The system's C++ compiler, for kernels and for `hoist px build --lib`.
//
// It is started without a shell, in a folder of mode 0700 that is removed afterwards.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace hoist::px {

struct CppCompiler {
  std::string path;
  // Another one where the compiler has been replaced: for caches.
  std::string version;
  bool is_clang = false;
};

// The first of c++, g++ and clang++ in PATH. `unavailable`: there is none.
Result<CppCompiler> find_cpp_compiler();

// How kernels are compiled for this machine.
std::vector<std::string> kernel_options();
// For any machine of its kind.
std::vector<std::string> portable_options();

// When a compiler is not waited for any longer: it is ended then, with all processes that it has
// started.
struct CompileLimits {
  std::chrono::milliseconds longest{0};  // 0: none
  std::stop_token stop;
};

// The shared object of one source file. `internal` where the compiler refuses it, with what it says
// first; `io` where a file cannot be written or the compiler not be started; `cancelled` where it
// takes too long or is stopped.
Result<std::vector<std::byte>> compile_shared(const CppCompiler& compiler, const std::string& text,
                                              const std::vector<std::string>& options,
                                              const CompileLimits& limits = {});

}  // namespace hoist::px
