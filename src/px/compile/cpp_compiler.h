// The system's C++ compiler, for kernels and for `hoist px build --lib`.
//
// It is started without a shell, in a folder of mode 0700 that is removed afterwards.
#pragma once

#include <cstddef>
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

// The shared object of one source file. `internal` where the compiler refuses it, with what it says
// first; `io` where a file cannot be written or the compiler not be started.
Result<std::vector<std::byte>> compile_shared(const CppCompiler& compiler, const std::string& text,
                                              const std::vector<std::string>& options);

}  // namespace hoist::px
