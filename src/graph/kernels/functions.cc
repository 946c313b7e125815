#include "graph/kernels/functions.h"

#include <limits>

namespace hoist::graph::kernels {

using ir::BinaryOperator;
using ir::Builtin;
using ir::Comparison;
using ir::Scalar;
using ir::UnaryOperator;

Value Functions::constant(double value) {
  return ir::is_float(type_) ? make_.real(type_, value)
                             : make_.integer(type_, static_cast<int64_t>(value));
}

Value Functions::compare(Comparison comparison, Value a, Value b) {
  if (a->type.scalar == Scalar::boolean) {  // in their order, which the IR has not
    a = writer_.cast(Scalar::u8, a);
    b = writer_.cast(Scalar::u8, b);
  }
  return make_.compare(comparison, a, b).value();
}

// The sigmoid of -|x| is e / (1 + e), that of |x| is 1 / (1 + e), with e = exp(-|x|) <= 1.
Value Functions::sigmoid(Value x) {
  const Value e = writer_.let(call(
      Builtin::exp, {make_.unary(UnaryOperator::negate, call(Builtin::absolute, {x})).value()}));
  const Value above = writer_.binary(BinaryOperator::add, one(), e);
  const Value top = writer_.select(compare(Comparison::less, x, zero()), e, one());
  return writer_.binary(BinaryOperator::divide, top, above);
}

Value Functions::is_infinite(Value x) {
  const Value infinity = make_.real(type_, std::numeric_limits<double>::infinity());
  return compare(Comparison::equal, call(Builtin::absolute, {x}), infinity);
}

// x (u - 1) / ln u with u = e^x: what rounding did to u, it did to its logarithm, too (W. Kahan).
Value Functions::expm1(Value x) {
  const Value u = writer_.let(call(Builtin::exp, {x}));
  const Value less = writer_.let(binary(BinaryOperator::subtract, u, one()));
  const Value ratio = binary(BinaryOperator::divide, less, call(Builtin::log, {u}));
  const Value result = binary(BinaryOperator::multiply, ratio, x);
  const Value limited = choose(is_infinite(u), u, result);
  const Value bounded = choose(compare(Comparison::equal, less, constant(-1)), less, limited);
  return choose(compare(Comparison::equal, u, one()), x, bounded);
}

// ln u + c / u, where u is 1 + x rounded and c what rounding lost.
Value Functions::log1p(Value x) {
  const Value u = writer_.let(binary(BinaryOperator::add, one(), x));
  const Value above =
      binary(BinaryOperator::subtract, one(), binary(BinaryOperator::subtract, u, x));
  const Value below =
      binary(BinaryOperator::subtract, x, binary(BinaryOperator::subtract, u, one()));
  const Value lost = choose(compare(Comparison::greater, x, one()), above, below);
  const Value log = writer_.let(call(Builtin::log, {u}));
  const Value sum = binary(BinaryOperator::add, log, binary(BinaryOperator::divide, lost, u));
  const Value is_limit =
      binary(BinaryOperator::bit_or, is_infinite(u), compare(Comparison::equal, u, zero()));
  const Value limited = choose(is_limit, log, sum);
  return choose(compare(Comparison::equal, x, zero()), x, limited);
}

Value Functions::sign(Value x) {
  const Value above = choose(compare(Comparison::greater, x, zero()), constant(1), zero());
  if (!ir::is_float(type_) && !ir::is_signed(type_)) return above;
  const Value found = choose(compare(Comparison::less, x, zero()), constant(-1), above);
  return ir::is_float(type_) ? choose(is_nan(x), x, found) : found;
}

Value Functions::extreme(BinaryOperator op, Value a, Value b) {
  if (a->type.scalar == Scalar::boolean) {
    return writer_.binary(
        op == BinaryOperator::minimum ? BinaryOperator::bit_and : BinaryOperator::bit_or, a, b);
  }
  const Value found = writer_.binary(op, a, b);
  if (!ir::is_float(type_)) return found;
  const Value has_nan = writer_.binary(BinaryOperator::bit_or, is_nan(a), is_nan(b));
  return writer_.select(has_nan, writer_.binary(BinaryOperator::add, a, b), found);
}

Value Functions::integer_power(Value a, Value b) {
  const auto of_u64 = [&](int64_t value) { return make_.integer(Scalar::u64, value); };
  const Value result = writer_.variable(of_u64(1));
  const Value factor = writer_.variable(writer_.cast(Scalar::u64, a));
  const Value left = writer_.variable(writer_.cast(Scalar::u64, b));
  writer_.begin_while(compare(Comparison::not_equal, left, of_u64(0)));
  const Value is_odd = compare(Comparison::not_equal,
                               writer_.binary(BinaryOperator::bit_and, left, of_u64(1)), of_u64(0));
  writer_.set(
      result,
      writer_.select(is_odd, writer_.binary(BinaryOperator::multiply, result, factor), result));
  writer_.set(factor, writer_.binary(BinaryOperator::multiply, factor, factor));
  writer_.set(left, writer_.binary(BinaryOperator::shift_right, left, of_u64(1)));
  writer_.end();
  const Value power = writer_.cast(type_, result);
  if (!ir::is_signed(type_)) return power;
  const Value is_even =
      compare(Comparison::equal, writer_.binary(BinaryOperator::bit_and, b, constant(1)), zero());
  const Value of_minus_one = writer_.select(is_even, constant(1), constant(-1));
  const Value inverse = writer_.select(
      compare(Comparison::equal, a, constant(1)), constant(1),
      writer_.select(compare(Comparison::equal, a, constant(-1)), of_minus_one, zero()));
  return writer_.select(compare(Comparison::less, b, zero()), inverse, power);
}

Value Functions::is_across(Value rest, Value b) {
  const Value differs = compare(Comparison::not_equal, compare(Comparison::less, rest, zero()),
                                compare(Comparison::less, b, zero()));
  return binary(BinaryOperator::bit_and, compare(Comparison::not_equal, rest, zero()), differs);
}

Value Functions::with_sign(Value magnitude, Value of) {
  const Scalar bits = type_ == Scalar::f64   ? Scalar::u64
                      : type_ == Scalar::f32 ? Scalar::u32
                                             : Scalar::u16;
  const Value sign = make_.constant(bits, uint64_t{1} << (ir::bits(type_) - 1));
  const Value low = make_.constant(bits, (uint64_t{1} << (ir::bits(type_) - 1)) - 1);
  const Value from = make_.bitcast(bits, of).value();
  const Value to = make_.bitcast(bits, magnitude).value();
  return make_
      .bitcast(type_, binary(BinaryOperator::bit_or, binary(BinaryOperator::bit_and, from, sign),
                             binary(BinaryOperator::bit_and, to, low)))
      .value();
}

// Subtracts the divisor times powers of two, from the largest one that fits on: no step rounds.
Value Functions::float_remainder(Value a, Value b) {
  const Value infinity = constant(std::numeric_limits<double>::infinity());
  const Value divisor = writer_.let(call(Builtin::absolute, {b}));
  const Value is_number = writer_.let(binary(
      BinaryOperator::bit_and, compare(Comparison::less, call(Builtin::absolute, {a}), infinity),
      compare(Comparison::greater, divisor, zero())));
  // An infinite divisor leaves the dividend.
  const Value is_whole = writer_.let(
      binary(BinaryOperator::bit_and, is_number, compare(Comparison::less, divisor, infinity)));
  const Value least = writer_.let(choose(is_whole, divisor, one()));
  const Value rest = writer_.variable(choose(is_whole, call(Builtin::absolute, {a}), zero()));
  const Value part = writer_.variable(least);
  const Value twice = binary(BinaryOperator::add, part, part);
  writer_.begin_while(compare(Comparison::less_equal, twice, rest));
  writer_.set(part, twice);
  writer_.end();
  writer_.begin_while(compare(Comparison::greater_equal, part, least));
  writer_.set(rest, choose(compare(Comparison::greater_equal, rest, part),
                           binary(BinaryOperator::subtract, rest, part), rest));
  writer_.set(part, binary(BinaryOperator::multiply, part, constant(0.5)));
  writer_.end();
  const Value nan = constant(std::numeric_limits<double>::quiet_NaN());
  return writer_.let(choose(is_whole, with_sign(rest, a), choose(is_number, a, nan)));
}

Value Functions::float_floor_divide(Value a, Value b) {
  const Value plain = writer_.let(binary(BinaryOperator::divide, a, b));
  const Value rest = float_remainder(a, b);
  const Value near = binary(BinaryOperator::divide, binary(BinaryOperator::subtract, a, rest), b);
  const Value quotient =
      writer_.let(choose(is_across(rest, b), binary(BinaryOperator::subtract, near, one()), near));
  const Value whole = writer_.let(call(Builtin::floor, {quotient}));
  const Value is_above = compare(Comparison::greater,
                                 binary(BinaryOperator::subtract, quotient, whole), constant(0.5));
  const Value rounded = choose(is_above, binary(BinaryOperator::add, whole, one()), whole);
  const Value result =
      choose(compare(Comparison::equal, quotient, zero()), with_sign(zero(), plain), rounded);
  return choose(compare(Comparison::equal, b, zero()), plain, result);
}

Value Functions::floor_divide(Value a, Value b) {
  if (ir::is_float(type_)) return float_floor_divide(a, b);
  const Value quotient = binary(BinaryOperator::divide, a, b);  // x / 0 = 0, least / -1 = least
  if (!ir::is_signed(type_)) return quotient;
  const Value rest = writer_.let(binary(BinaryOperator::remainder, a, b));
  const Value is_by_zero = compare(Comparison::equal, b, zero());
  const Value down = writer_.select(is_across(rest, b),
                                    binary(BinaryOperator::subtract, quotient, one()), quotient);
  return writer_.select(is_by_zero, zero(), down);
}

Value Functions::remainder(Value a, Value b) {
  if (ir::is_float(type_)) {
    const Value rest = float_remainder(a, b);
    const Value other = choose(is_across(rest, b), binary(BinaryOperator::add, rest, b), rest);
    const Value inside =
        choose(compare(Comparison::equal, rest, zero()), with_sign(zero(), b), other);
    return choose(compare(Comparison::equal, b, zero()), rest, inside);
  }
  const Value rest = writer_.let(binary(BinaryOperator::remainder, a, b));  // x % 0 = x
  const Value is_by_zero = compare(Comparison::equal, b, zero());
  const Value inside =
      ir::is_signed(type_)
          ? writer_.select(is_across(rest, b), binary(BinaryOperator::add, rest, b), rest)
          : rest;
  return writer_.select(is_by_zero, zero(), inside);
}

Value Functions::shifted(BinaryOperator op, Value a, Value b) {
  // The IR has 0 for a negative amount, and the sign only beyond the width.
  if (op == BinaryOperator::shift_left || !ir::is_signed(type_)) return binary(op, a, b);
  const Value amount = writer_.let(b);
  const Value is_negative = compare(Comparison::less, amount, zero());
  return binary(op, a, writer_.select(is_negative, constant(63), amount));
}

}  // namespace hoist::graph::kernels
