// The IR as C++ for the CPU: self-contained C++17 (as C++20, too), which a compiler makes vector
// code of. For each kernel
//
//   extern "C" void px_kernel_NAME(const px::launch* launch, unsigned long long begin,
//                                  unsigned long long end);
//
// runs the blocks [begin, end) of a grid, x first; several calls may run at the same time.
// px/compile/cpu_kernel.h has the same `launch` for who calls it.
//
// A kernel whose threads do not work together is one loop over threads (px/emit/cpp_row.h). Any
// other is cut at its barriers, and what is between runs for all threads of a block before the next
// part (px/emit/cpp_block.h).
//
// To be compiled with -ffp-contract=off: a product and a sum are fused only where the kernel says
// so.
#pragma once

#include <string>
#include <vector>

#include "ir/module.h"
#include "px/emit/sites.h"

namespace hoist::px {

struct Code {
  std::string text;
  std::vector<Site> sites;  // of the checked accesses
};

// The module must have passed ir::verify().
Code emit_cpp(const ir::Module& module, bool check_bounds);

std::string cpp_entry_name(const ir::Kernel& kernel);

}  // namespace hoist::px
