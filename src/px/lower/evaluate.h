// The value of an expression that no thread decides: constants, sizes of launches, what the host
// part of a file computes.
#pragma once

#include <functional>
#include <optional>

#include "ir/expression.h"

namespace hoist::px {

struct Known {
  // The bits of a parameter, and the elements of an array; none where they are not known.
  std::function<std::optional<uint64_t>(const ir::Parameter&)> parameter = {};
  std::function<std::optional<uint64_t>(const ir::Array&)> length = {};
  // Where a thread is, in that dimension.
  std::function<std::optional<uint64_t>(ir::Id, int)> id = {};
};

// As bits of the expression's type. None where it needs something that is not known.
std::optional<uint64_t> evaluate(const ir::Expression& expression, const Known& known = {});

}  // namespace hoist::px
