#include "graph/native/lane_functions.h"

#include <limits>

namespace hoist::graph::native {

using program::Op;

namespace {

constexpr float kLn2High = 0.693359375f;
constexpr float kLn2Low = -2.12194440e-4f;

}  // namespace

bool is_lane_function(Op op) { return op == Op::log || op == Op::log1p || op == Op::log2; }

Value LaneFunctions::of(Op op, Value x) {
  return op == Op::log ? log(x) : op == Op::log1p ? log1p(x) : log2(x);
}

Value LaneFunctions::times_plus(Value a, Value b, Value c) {
  if (fuses_) return let(make_.call(ir::Builtin::fused_multiply_add, {a, b, c}));
  return let(plus(times(a, b), c));
}
Value LaneFunctions::minus_times(Value a, Value b, Value c) {
  if (fuses_) return let(make_.call(ir::Builtin::fused_multiply_add, {negative(a), b, c}));
  return let(minus(c, times(a, b)));
}

Value LaneFunctions::polynomial(Value x, std::initializer_list<float> coefficients) {
  Value q = nullptr;
  for (const float one : coefficients) {
    q = q == nullptr ? number(one) : times_plus(q, x, number(one));
  }
  return q;
}

LaneFunctions::Logarithm LaneFunctions::logarithm(Value x) {
  const Value is_small = let(is_less(x, number(1.17549435e-38f)));
  const Value scaled = let(choose(is_small, times(x, number(33554432.0f)), x));
  const Value bits = let(bits_of(scaled));
  const Value exponent = let(shifted_right(minus(bits, integer(0x3f3504f3)), 23));
  const Value m = of_bits(minus(bits, shifted_left(exponent)));
  const Value n = let(
      minus(writer_.cast(ir::Scalar::f32, exponent), choose(is_small, number(25.0f), number(0))));
  const Value f = let(minus(m, number(1)));
  const Value q = polynomial(f, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                                 -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                                 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  return {n, f, let(times(times(q, f), times(f, f)))};
}

Value LaneFunctions::with_limits_of_log(Value x, Value result) {
  const Value infinity = number(std::numeric_limits<float>::infinity());
  const Value finite = choose(is_less(x, infinity), result, plus(x, infinity));
  const Value of_zero = choose(is_zero(x), negative(infinity), finite);
  return let(
      choose(is_less(x, number(0)), number(std::numeric_limits<float>::quiet_NaN()), of_zero));
}

Value LaneFunctions::log(Value x) {
  const Logarithm at = logarithm(x);
  const Value tail = times_plus(at.n, number(kLn2Low), at.tail);
  const Value q = minus_times(times(at.f, at.f), number(0.5f), tail);
  return with_limits_of_log(x, times_plus(at.n, number(kLn2High), plus(at.f, q)));
}

Value LaneFunctions::log1p(Value x) {
  const Value one = number(1);
  const Value u = let(plus(x, one));
  const Value lost = choose(is_less(one, x), minus(one, minus(u, x)), minus(x, minus(u, one)));
  const Value result = plus(log(u), over(lost, u));
  return choose(is_zero(x), x, with_limits_of_log(u, result));
}

Value LaneFunctions::log2(Value x) {
  const Logarithm at = logarithm(x);
  const Value rest = minus_times(times(at.f, at.f), number(0.5f), at.tail);
  const Value more = number(0.44269504089f);
  const Value part = times_plus(at.f, more, times(rest, more));
  return with_limits_of_log(x, plus(plus(plus(part, rest), at.f), at.n));
}

}  // namespace hoist::graph::native
