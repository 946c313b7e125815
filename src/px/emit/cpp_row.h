// Kernels whose threads do not work together: one loop over the threads of a row of blocks, which
// compilers vectorise.
#pragma once

#include "ir/module.h"
#include "px/emit/lines.h"
#include "px/emit/sites.h"

namespace hoist::px {

// The kernel's function, and the entry that calls it.
void emit_row_kernel(const ir::Module& module, const ir::Kernel& kernel, Sites* sites,
                     Lines& kernels, Lines& entries);

}  // namespace hoist::px
