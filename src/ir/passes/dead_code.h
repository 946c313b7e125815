// Statements without an effect.
#pragma once

#include "ir/module.h"

namespace hoist::ir {

// Takes away what stands behind an exit, empty branches and loops that never turn, and variables
// that nothing needs, with what they are given. Gives whether anything went.
bool remove_dead_code(Block& body);

}  // namespace hoist::ir
