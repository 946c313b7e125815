// The IR as CUDA C++17 that nvcc and NVRTC take. For each kernel
//
//   extern "C" __global__ void px_kernel_NAME(T* array, long long array_length, …, T scalar, …);
//
// with the arguments in their order, an array with its length behind it, and where bounds are
// checked a `px::fault*` behind all.
//
// To be compiled with --fmad=false: a product and a sum are fused only where the kernel says so.
#pragma once

#include "ir/module.h"
#include "px/emit/cpp.h"
#include "px/emit/names.h"

namespace hoist::px {

// The module must have passed ir::verify().
Code emit_cuda(const ir::Module& module, bool check_bounds);

std::string cuda_entry_name(const ir::Kernel& kernel);
// Its parameters; with that of the fault.
std::string cuda_parameters(const ir::Kernel& kernel, const Names& names, bool has_fault);

}  // namespace hoist::px
