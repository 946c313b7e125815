#include "ir/passes/identities.h"

#include <bit>

#include "ir/arithmetic.h"
#include "ir/passes/simplify.h"

namespace hoist::ir {
namespace {

using Kind = Expression::Kind;

bool is_bits(const Expression* e, uint64_t bits) { return e->is_constant() && e->bits == bits; }
bool is_zero(const Expression* e) { return is_bits(e, 0); }  // +0 of a float
bool is_all_ones(const Expression* e) { return is_bits(e, mask(e->type.scalar)); }
bool is_one(const Expression* e) {
  return e->is_constant() && e->bits == cast_bits(Scalar::i64, e->type.scalar, 1);
}
bool is_minus_zero(const Expression* e) {
  return is_bits(e, uint64_t{1} << (bits(e->type.scalar) - 1));
}

// `x` where it is known without evaluating `dropped`; else the expression as it was.
const Expression* unless_fault(const Expression* dropped, const Expression* x,
                               const Expression* otherwise) {
  return may_fault(*dropped) ? otherwise : x;
}

const Expression* simpler_float(const Expression* e) {
  const Expression* left = e->operands[0];
  const Expression* right = e->operands[1];
  switch (e->binary_operator()) {
    // Only these zeros leave every x as it is, -0 and 0, too.
    case BinaryOperator::add:
      return is_minus_zero(right) ? left : is_minus_zero(left) ? right : e;
    case BinaryOperator::subtract:
      return is_zero(right) ? left : e;
    case BinaryOperator::multiply:
      return is_one(right) ? left : is_one(left) ? right : e;
    case BinaryOperator::divide:
      return is_one(right) ? left : e;
    default:
      return e;
  }
}

const Expression* simpler_bool(const Expression* e) {
  const Expression* left = e->operands[0];
  const Expression* right = e->operands[1];
  switch (e->binary_operator()) {
    case BinaryOperator::bit_and:
      // The right side of false & x is not evaluated.
      if (is_zero(left) || is_one(right)) return left;
      if (is_one(left)) return right;
      return is_zero(right) ? unless_fault(left, right, e) : e;
    case BinaryOperator::bit_or:
      if (is_one(left) || is_zero(right)) return left;
      if (is_zero(left)) return right;
      return is_one(right) ? unless_fault(left, right, e) : e;
    default:
      return is_zero(right) ? left : is_zero(left) ? right : e;
  }
}

const Expression* simpler_integer(Expressions& make, const Expression* e) {
  const Expression* left = e->operands[0];
  const Expression* right = e->operands[1];
  const Expression* zero = make.constant(e->type.scalar, 0);
  switch (e->binary_operator()) {
    case BinaryOperator::add:
      return is_zero(right) ? left : is_zero(left) ? right : e;
    case BinaryOperator::subtract:
      if (is_zero(right)) return left;
      return left == right ? unless_fault(left, zero, e) : e;
    case BinaryOperator::multiply:
      if (is_one(right)) return left;
      if (is_one(left)) return right;
      if (is_zero(right)) return unless_fault(left, zero, e);
      return is_zero(left) ? unless_fault(right, zero, e) : e;
    case BinaryOperator::divide:
      return is_one(right) ? left : e;
    case BinaryOperator::remainder:
      return is_one(right) ? unless_fault(left, zero, e) : e;
    case BinaryOperator::minimum:
    case BinaryOperator::maximum:
      return left == right ? left : e;
    case BinaryOperator::bit_and:
      if (left == right || is_all_ones(right)) return left;
      if (is_all_ones(left)) return right;
      if (is_zero(right)) return unless_fault(left, zero, e);
      return is_zero(left) ? unless_fault(right, zero, e) : e;
    case BinaryOperator::bit_or:
      if (left == right || is_zero(right)) return left;
      return is_zero(left) ? right : e;
    case BinaryOperator::bit_xor:
      if (is_zero(right)) return left;
      if (is_zero(left)) return right;
      return left == right ? unless_fault(left, zero, e) : e;
    case BinaryOperator::shift_left:
    case BinaryOperator::shift_right:
    case BinaryOperator::rotate_left:
    case BinaryOperator::rotate_right:
      return is_zero(right) ? left : e;
  }
  return e;
}

const Expression* simpler_unary(Expressions& make, const Expression* e) {
  const Expression* value = e->operands[0];
  if (value->kind == Kind::unary && value->code == e->code) return value->operands[0];
  const bool negates_comparison = e->type == Scalar::boolean && value->kind == Kind::compare;
  if (!negates_comparison) return e;
  constexpr Comparison kOpposites[] = {Comparison::not_equal,     Comparison::equal,
                                       Comparison::greater_equal, Comparison::greater,
                                       Comparison::less_equal,    Comparison::less};
  // Neither a < b nor a >= b holds for a NaN.
  const Comparison comparison = value->comparison();
  if (comparison > Comparison::not_equal && is_float(value->operands[0]->type.scalar)) return e;
  return *make.compare(kOpposites[static_cast<int>(comparison)], value->operands[0],
                       value->operands[1]);
}

const Expression* simpler_select(const Expression* e) {
  const Expression* condition = e->operands[0];
  const Expression* yes = e->operands[1];
  const Expression* no = e->operands[2];
  if (condition->is_constant()) return condition->bits ? yes : no;
  if (yes == no) return unless_fault(condition, yes, e);
  const bool is_condition = e->type == Scalar::boolean && is_one(yes) && is_zero(no);
  return is_condition ? condition : e;
}

}  // namespace

const Expression* apply_identities(Expressions& make, const Expression* e) {
  switch (e->kind) {
    case Kind::unary:
      return simpler_unary(make, e);
    case Kind::select:
      return simpler_select(e);
    case Kind::binary:
      if (e->type == Scalar::boolean) return simpler_bool(e);
      return is_float(e->type.scalar) ? simpler_float(e) : simpler_integer(make, e);
    case Kind::lane: {
      const Expression* vector = e->operands[0];
      if (vector->kind != Kind::vector) return e;
      for (const Expression* lane : vector->operands) {
        if (may_fault(*lane)) return e;
      }
      return vector->operands[e->dimension];
    }
    default:
      return e;
  }
}

}  // namespace hoist::ir
