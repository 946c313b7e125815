#include "px/emit/range.h"

#include <algorithm>

#include "ir/arithmetic.h"
#include "ir/walk.h"

namespace hoist::px {
namespace {

using ir::BinaryOperator;
using ir::Expression;
using ir::Scalar;
using Kind = Expression::Kind;

// More than any exact result of two i32.
constexpr int64_t kUnknown = int64_t{1} << 62;

int64_t value_of(const Expression& constant) {
  return ir::integer_of(constant.type.scalar, constant.bits);
}

}  // namespace

Ranges::Ranges(const ir::Kernel& kernel, int64_t threads) : threads_(threads) {
  // In the order of the source: what a variable is made of is known before it.
  ir::for_each_statement(kernel.body, [&](const ir::Statement& statement) { learn(statement); });
}

void Ranges::learn(const ir::Statement& statement) {
  ir::match(
      statement,
      [&](const ir::Declare& s) {
        if (!s.variable->is_mutable && s.variable->type == Scalar::i32) {
          variables_[s.variable] = of(*s.value);
        }
      },
      [&](const ir::For& s) {
        if (s.variable->type != Scalar::i32 || !s.step->is_constant()) return;
        const Range from = of(*s.from);
        const Range to = of(*s.to);
        variables_[s.variable] = value_of(*s.step) > 0
                                     ? Range{from.least, std::max(from.least, to.most - 1)}
                                     : Range{std::min(from.most, to.least + 1), from.most};
      },
      [](const auto&) {});
}

Ranges::Range Ranges::of(const Expression& expression) const {
  const auto found = known_.find(&expression);
  if (found != known_.end()) return found->second;
  const Range range = compute(expression);
  known_[&expression] = range;
  return range;
}

bool Ranges::never_wraps(const Expression& expression) const {
  if (expression.type != Scalar::i32) return false;
  const Range range = exact(expression);
  return range.least >= INT32_MIN && range.most <= INT32_MAX;
}

Ranges::Range Ranges::exact(const Expression& e) const {
  const Range a = of(*e.operands[0]);
  if (e.kind == Kind::unary) return {-a.most, -a.least};
  const Range b = of(*e.operands[1]);
  switch (e.binary_operator()) {
    case BinaryOperator::add:
      return {a.least + b.least, a.most + b.most};
    case BinaryOperator::subtract:
      return {a.least - b.most, a.most - b.least};
    case BinaryOperator::multiply: {
      const auto [least, most] =
          std::minmax({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most});
      return {least, most};
    }
    default:
      return {-kUnknown, kUnknown};
  }
}

Ranges::Range Ranges::compute(const Expression& e) const {
  const Range all;
  if (e.type != Scalar::i32) return all;
  const auto operand = [&](size_t i) { return of(*e.operands[i]); };
  switch (e.kind) {
    case Kind::constant:
      return {value_of(e), value_of(e)};
    case Kind::variable: {
      const auto found = variables_.find(e.variable);
      return found == variables_.end() ? all : found->second;
    }
    case Kind::id:
      switch (e.id()) {
        case ir::Id::thread:
          return {0, threads_ - 1};
        case ir::Id::block:
          return {0, threads_ - 1};
        case ir::Id::local:
          return {0, ir::kMostThreads - 1};
        case ir::Id::block_size:
          return {1, ir::kMostThreads};
        case ir::Id::grid_size:
          return {1, INT32_MAX};
        case ir::Id::lane:
          return {0, ir::kWarp - 1};
      }
      return all;
    case Kind::select: {
      const Range yes = operand(1);
      const Range no = operand(2);
      return {std::min(yes.least, no.least), std::max(yes.most, no.most)};
    }
    case Kind::cast: {
      const Scalar from = e.operands[0]->type.scalar;
      if (ir::is_float(from) || ir::bits(from) >= 32) return all;
      if (from == Scalar::boolean) return {0, 1};
      const int64_t values = int64_t{1} << ir::bits(from);
      return ir::is_signed(from) ? Range{-values / 2, values / 2 - 1} : Range{0, values - 1};
    }
    case Kind::unary:
      return e.unary_operator() == ir::UnaryOperator::negate && never_wraps(e) ? exact(e) : all;
    case Kind::binary:
      break;
    default:
      return all;
  }
  const Range a = operand(0);
  const Range b = operand(1);
  const bool by_positive = e.operands[1]->is_constant() && b.least > 0;
  switch (e.binary_operator()) {
    case BinaryOperator::add:
    case BinaryOperator::subtract:
    case BinaryOperator::multiply:
      return never_wraps(e) ? exact(e) : all;
    case BinaryOperator::divide:
      return by_positive ? Range{a.least / b.least, a.most / b.least} : all;
    case BinaryOperator::remainder:
      if (!by_positive) return all;
      return {a.least < 0 ? 1 - b.least : 0, std::min(std::max<int64_t>(a.most, 0), b.least - 1)};
    case BinaryOperator::minimum:
      return {std::min(a.least, b.least), std::min(a.most, b.most)};
    case BinaryOperator::maximum:
      return {std::max(a.least, b.least), std::max(a.most, b.most)};
    case BinaryOperator::bit_and:
      // Bits that one side does not have are not in the result.
      if (a.least >= 0 && b.least >= 0) return {0, std::min(a.most, b.most)};
      if (a.least >= 0) return {0, a.most};
      return b.least >= 0 ? Range{0, b.most} : all;
    case BinaryOperator::shift_right:
      return by_positive && b.least < 32 ? Range{a.least >> b.least, a.most >> b.least} : all;
    default:
      return all;
  }
}

}  // namespace hoist::px
