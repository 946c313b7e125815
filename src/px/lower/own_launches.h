// Tells a module how its file launches its kernels, for files of `hoist px build`.
#pragma once

#include "ir/module.h"
#include "px/host/host_program.h"
#include "px/text/source.h"

namespace hoist::px {

// Adds an ir::Launch for each kernel whose launches all have one grid, which follows from the
// kernel's own arguments. A grid of fixed size is left out where the kernel asks for nothing but
// its threads' numbers: then it is made for as many threads as there are elements.
void add_launches(ir::Module& module, const HostProgram& host, const Source& source);

}  // namespace hoist::px
