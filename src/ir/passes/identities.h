// Expressions that are another one: x + 0, x * 1, !!x, c ? x : x.
#pragma once

#include "ir/expression.h"

namespace hoist::ir {

// What the expression is, in simpler words; itself where no rule applies.
const Expression* apply_identities(Expressions& make, const Expression* expression);

}  // namespace hoist::ir
