// What `hoist px build` writes: a module's kernels as files that need nothing of Hoist.
//
//   NAME.h    C: for each kernel functions that launch it
//   NAME.cu   C++17 for nvcc: the kernels for GPUs, and the launch functions NAME_KERNEL_cuda
//   NAME.cc   C++17 and later: the kernels for the CPU, and the launch functions NAME_KERNEL_cpu
//
// A launch function takes the arrays with their lengths in elements, the scalars, and the number of
// threads; it chooses the blocks:
//
//   int saxpy_saxpy_cuda(const float* x, size_t x_length, float* y, size_t y_length, float a,
//                        int32_t n, size_t threads, cudaStream_t stream);
//
// It gives 0, or what is wrong: a cudaError_t, or 1 (invalid value) for a grid that is too large.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.h"

namespace hoist::px {

struct Standalone {
  std::string header;
  std::string cuda;
  std::string cpp;
};

// `name`: of the files, without a folder and an ending. The module must have passed ir::verify().
Standalone emit_standalone(const ir::Module& module, std::string_view name);

}  // namespace hoist::px
