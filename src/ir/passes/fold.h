// Operators on constants.
#pragma once

#include "ir/expression.h"

namespace hoist::ir {

// The constant that the expression is, its operands being constants; null: it is none, or not
// exactly the same on all targets.
const Expression* fold(Expressions& make, const Expression& expression);

}  // namespace hoist::ir
