// Kernels whose threads work together, cut into steps (px/emit/block_plan.h): a function that runs
// one block, step by step, each for all of its threads.
#pragma once

#include "ir/module.h"
#include "px/emit/lines.h"
#include "px/emit/sites.h"

namespace hoist::px {

// The kernel's function, and the entry that calls it.
void emit_block_kernel(const ir::Module& module, const ir::Kernel& kernel, Sites* sites,
                       Lines& kernels, Lines& entries);

}  // namespace hoist::px
