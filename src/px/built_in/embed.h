// What the build makes of a px file (px/built_in/kernel.h): a header that declares a launch
// function for each kernel, C++ with these and the CPU's code, and CUDA for the plug-in.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "px/lower/lower.h"

namespace hoist::px {

struct Embedded {
  std::string header;
  std::string cpp;
  std::string cuda;
};

// `header_path`: how the C++ includes the header. Kernels have as many registers as the largest
// block allows that the file itself launches; 256 threads where it launches none of a fixed size.
//
// Errors: `unsupported` for a kernel with more than 64 arguments or one of a 16-bit real.
Result<Embedded> embed(const Lowered& file, std::string_view header_path);

}  // namespace hoist::px
