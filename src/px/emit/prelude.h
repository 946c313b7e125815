// The text that emitted code begins with: names for the types, and the operators whose exact
// meaning (ir/operators.h) is not what C++ gives. It is C++17 that g++, clang++, nvcc and NVRTC
// take alike, and needs no header that NVRTC lacks.
#pragma once

#include <string>

namespace hoist::px {

// In namespace px, which the kernels are in, too; one text behind the other.
std::string types_text();      // scalars, 16-bit floats, and what templates ask about types
std::string operators_text();  // with casts
std::string functions_text();  // with vectors, checked accesses and loops
// What only the CPU's kernels need: grids, faults, atomics on one core and on many.
std::string cpu_prelude_text();
// What only the GPU's kernels need: warps, blocks.
std::string cuda_prelude_text();

}  // namespace hoist::px
