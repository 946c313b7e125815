// The text that emitted code begins with: names for the types, and the operators whose exact
// meaning (ir/operators.h) is not what C++ gives. It is C++17 that g++, clang++, nvcc and NVRTC
// take alike, and needs no header that NVRTC lacks.
#pragma once

#include <string>

namespace hoist::px {

// In namespace px, which the kernels are in, too. `device`: for CUDA.
std::string prelude_text();
// What only the CPU's kernels need: grids, faults, atomics on one core and on many.
std::string cpu_prelude_text();
// What only the GPU's kernels need: warps, blocks.
std::string cuda_prelude_text();

}  // namespace hoist::px
