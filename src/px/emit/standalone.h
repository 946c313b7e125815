// What `hoist px build` writes: a module's kernels as files that need nothing of Hoist.
//
//   NAME.h    C: the functions that launch each kernel
//   NAME.cc   C++17 and later: the kernels for the CPU, with NAME_KERNEL_cpu()
//   NAME.cu   C++17 for nvcc: the kernels for GPUs, with NAME_KERNEL_cuda()
//
// A launch function takes the kernel's arguments, each array with its length in elements:
//
//   int saxpy_saxpy_cuda(const float* x, size_t x_length, float* y, size_t y_length, float a,
//                        int32_t n, void* stream);
//
// It runs one thread for each element of the longest array that the kernel writes, in blocks of
// 256; where the module says itself how the kernel is launched, and its arguments decide that, so
// many. NAME_KERNEL_cuda_grid() takes the grid as well. On the CPU a launch function returns when
// all is done; all cores are used. It gives 0, or what is wrong: a cudaError_t, or 1 for a grid
// that cannot be.
//
// NAME.cc is compiled with -ffp-contract=off, NAME.cu with --fmad=false: a product and a sum are
// fused only where the kernel says so. With g++ -O3 NAME.cc needs -fno-tree-loop-distribution, too:
// g++ 12.2 may exchange two stores of one turn of a loop to one place.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.h"

namespace hoist::px {

struct Standalone {
  std::string header;
  std::string cpp;
  std::string cuda;
};

// `name`: of the files, without a folder and an ending. The module must have passed ir::verify().
Standalone emit_standalone(const ir::Module& module, std::string_view name);

}  // namespace hoist::px
