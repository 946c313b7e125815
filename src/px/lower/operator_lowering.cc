// Operators of expressions.
#include <fmt/format.h>

#include "px/lower/expression_lowering.h"

namespace hoist::px {

using syntax::Expression;
using syntax::ExpressionKind;

namespace {

bool is_shift(ir::BinaryOperator op) { return op >= ir::BinaryOperator::shift_left; }

}  // namespace

// The right side of `left AND right`: the left one guards it.
std::optional<Value> ExpressionLowering::guarded(const Expression& right, const Value& left,
                                                 ir::BinaryOperator op) {
  const bool decides = op == ir::BinaryOperator::bit_and || op == ir::BinaryOperator::bit_or;
  const bool guards = decides && left.expression != nullptr && watch_.is_guard(*left.expression);
  if (guards) watch_.enter();
  if (left.expression != nullptr) wanted_ = left.expression->type;
  std::optional<Value> found = value(right);
  if (guards) watch_.leave();
  return found;
}

std::optional<Value> ExpressionLowering::binary(ir::BinaryOperator op, const Expression& left,
                                                const Expression& right, Span span) {
  const std::optional<Value> a = value(left);
  if (!a) {
    value(right);  // for its own errors
    return std::nullopt;
  }
  const std::optional<Value> b = guarded(right, *a, op);
  if (!b) return std::nullopt;
  return a->literal && b->literal ? computed(op, *a, *b, span) : combined(op, *a, *b, span);
}

// Two literals make a third.
std::optional<Value> ExpressionLowering::computed(ir::BinaryOperator op, const Value& left,
                                                  const Value& right, Span span) {
  const Result<std::optional<Literal>> literal = compute(op, *left.literal, *right.literal);
  if (!literal) {
    l_.error(span, literal.error().message, "write another number");
    return std::nullopt;
  }
  if (*literal) return Value{.literal = **literal, .span = span};
  return combined(op, left, right, span);
}

std::optional<Value> ExpressionLowering::combined(ir::BinaryOperator op, const Value& left,
                                                  const Value& right, Span span) {
  if (!takes_scalars(name(op), left, right, span)) return std::nullopt;
  if (is_shift(op)) return shift(op, left, right, span);
  if (!check_bit_operands(op, left, right, span)) return std::nullopt;
  const Value both[] = {left, right};
  const auto sides = same_type(both, name(op));
  if (sides.empty()) return std::nullopt;
  const ir::Scalar type = sides[0]->type.scalar;
  if (op == ir::BinaryOperator::remainder && ir::is_float(type)) {
    l_.error(span, fmt::format("MOD takes integers, and not {}", name(type)),
             "write a - floor(a / b) * b");
    return std::nullopt;
  }
  return result(made(l_.module.expressions().binary(op, sides[0], sides[1]), span), span);
}

bool ExpressionLowering::takes_scalars(std::string_view op, const Value& left, const Value& right,
                                       Span span) {
  const auto is_vector = [](const Value& value) {
    return value.expression != nullptr && value.expression->type.is_vector();
  };
  if (!is_vector(left) && !is_vector(right)) return true;
  l_.error(span, fmt::format("{} does not take vectors", op), "take the lanes: v[0], v[1], …");
  return false;
}

// Bits of floats, and what `a AND 1 == 0` means.
bool ExpressionLowering::check_bit_operands(ir::BinaryOperator op, const Value& left,
                                            const Value& right, Span span) {
  const bool is_bit_operator =
      op >= ir::BinaryOperator::bit_and && op <= ir::BinaryOperator::bit_xor;
  if (!is_bit_operator || left.expression == nullptr || right.expression == nullptr) return true;
  const ir::Scalar types[] = {left.expression->type.scalar, right.expression->type.scalar};
  if (ir::is_float(types[0]) || ir::is_float(types[1])) {
    const ir::Scalar type = ir::is_float(types[0]) ? types[0] : types[1];
    l_.error(span, fmt::format("{} does not take {}", name(op), name(type)),
             fmt::format("take its bits: as_u{}(x)", ir::bits(type)));
    return false;
  }
  const bool is_mixed = (types[0] == ir::Scalar::boolean) != (types[1] == ir::Scalar::boolean);
  if (!is_mixed) return true;
  l_.error(span,
           fmt::format("{} takes values of one type, and these are {} and {}", name(op),
                       name(types[0]), name(types[1])),
           "comparisons bind tighter: put the other part into parentheses, (a AND b) == c");
  return false;
}

std::optional<Value> ExpressionLowering::shift(ir::BinaryOperator op, const Value& left,
                                               const Value& right, Span span) {
  const ir::Expression* shifted = typed(left);
  const ir::Expression* amount = typed(right);
  if (shifted == nullptr || amount == nullptr) return std::nullopt;
  return result(made(l_.module.expressions().binary(op, shifted, amount), span), span);
}

std::optional<Value> ExpressionLowering::unary(ir::UnaryOperator op, const Expression& operand,
                                               Span span) {
  const std::optional<Value> of = value(operand);
  if (!of) return std::nullopt;
  if (of->literal) {
    if (const auto literal = compute(op, *of->literal)) {
      return Value{.literal = literal, .span = span};
    }
    l_.error(span,
             fmt::format("{} does not take {}", op == ir::UnaryOperator::negate ? "-" : "NOT",
                         text_of(*of->literal)),
             "write another number");
    return std::nullopt;
  }
  return result(made(l_.module.expressions().unary(op, of->expression), span), span);
}

std::optional<Value> ExpressionLowering::compare(const Expression& expression) {
  const Expression& first = *expression.operands[0];
  const bool is_order = expression.comparison >= ir::Comparison::less;
  if (is_order && first.kind == ExpressionKind::compare && !first.is_in_parentheses) {
    l_.error(expression.span, "comparisons do not chain", "write a < b AND b < c");
    return std::nullopt;
  }
  const std::optional<Value> left = value(*expression.operands[0]);
  const std::optional<Value> right = value(*expression.operands[1]);
  if (!left || !right) return std::nullopt;
  ir::Expressions& make = l_.module.expressions();
  const Span span = expression.span;
  if (left->literal && right->literal) {
    return result(make.boolean(compute(expression.comparison, *left->literal, *right->literal)),
                  span);
  }
  if (!takes_scalars(name(expression.comparison), *left, *right, span)) return std::nullopt;
  const Value both[] = {*left, *right};
  const auto sides = same_type(both, name(expression.comparison));
  if (sides.empty()) return std::nullopt;
  return result(made(make.compare(expression.comparison, sides[0], sides[1]), span), span);
}

}  // namespace hoist::px
