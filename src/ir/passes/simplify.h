// Passes over a module that has passed verify(): the same results, bit for bit, and the same
// faults, from less code. Each rule is exact; where a NaN comes out, some NaN came out before.
//
//   simplify(module);   // all of them, until nothing changes
//
// What is known to be constant is computed (fold.h), expressions that are another one are replaced
// by it (identities.h), variables that keep a constant or another variable give way to it, branches
// that are never taken and statements without an effect go (dead_code.h). Expressions that may
// fault stay, where they are evaluated now: an access beyond an array's end is something to be
// found.
#pragma once

#include "ir/module.h"

namespace hoist::ir {

void simplify(Module& module);

// Whether evaluating it may find a fault: it loads, or calls what may.
bool may_fault(const Expression& expression);

}  // namespace hoist::ir
