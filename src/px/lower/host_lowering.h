// The host's part of a file: from syntax to a HostProgram.
#pragma once

#include <vector>

#include "px/host/host_program.h"
#include "px/lower/lowering.h"

namespace hoist::px {

// The kernels are in the module and, by name, in the innermost block of names.
void lower_host(Lowering& lowering, const std::vector<syntax::Statement>& statements,
                HostProgram& program);

}  // namespace hoist::px
