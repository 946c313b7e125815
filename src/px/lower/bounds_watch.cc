#include "px/lower/bounds_watch.h"

#include <algorithm>

namespace hoist::px {

using Kind = ir::Expression::Kind;

BoundsWatch::Parts BoundsWatch::parts_of(const ir::Expression& expression) const {
  Parts parts;
  if (expression.kind == Kind::id) {
    const ir::Id id = expression.id();
    parts.block = id == ir::Id::thread || id == ir::Id::block;
    parts.local = id == ir::Id::thread || id == ir::Id::local;
  } else if (expression.kind == Kind::variable) {
    parts.block = of_block_.contains(expression.variable);
    parts.local = of_local_.contains(expression.variable);
  } else if (expression.kind == Kind::load || expression.kind == Kind::call) {
    return parts;  // what an array or a function gives is another number
  } else if (expression.kind == Kind::binary &&
             (expression.binary_operator() == ir::BinaryOperator::minimum ||
              expression.binary_operator() == ir::BinaryOperator::remainder ||
              expression.binary_operator() == ir::BinaryOperator::bit_and)) {
    return parts;  // brought into a range
  }
  for (const ir::Expression* operand : expression.operands) {
    const Parts of_operand = parts_of(*operand);
    parts.block |= of_operand.block;
    parts.local |= of_operand.local;
  }
  return parts;
}

void BoundsWatch::give(const ir::Variable* variable, const ir::Expression& value) {
  const Parts parts = parts_of(value);
  if (parts.block) of_block_.insert(variable);
  if (parts.local) of_local_.insert(variable);
}

bool BoundsWatch::is_guard(const ir::Expression& condition) const {
  const bool decides = condition.kind == Kind::variable || condition.kind == Kind::compare;
  if (decides) {
    const Parts parts = parts_of(condition);
    return parts.block || parts.local;
  }
  return std::any_of(condition.operands.begin(), condition.operands.end(),
                     [&](const ir::Expression* operand) { return is_guard(*operand); });
}

bool BoundsWatch::is_unguarded(const ir::Expression& index) const {
  return guards_ == 0 && parts_of(index).is_thread();
}

}  // namespace hoist::px
