// Exponential functions and logarithms of programs, for a vector of floats. Errors are stated in
// steps.h. Included once for each instruction set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_EXPONENTIALS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_EXPONENTIALS_INL_H_
#undef HOIST_GRAPH_PROGRAM_EXPONENTIALS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_EXPONENTIALS_INL_H_
#endif

#include "graph/program/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

// 2^x: 2^n 2^f with |f| <= 1/2, by the polynomial of gelu_tanh(); 2^n in two halves.
HWY_INLINE V exp2(V x) {
  const DI di;
  const V clamped = at_least(number(-151.0f), at_most(number(129.0f), x));
  const V magic = number(12582912.0f);
  const V n = hn::Sub(hn::Add(clamped, magic), magic);
  const V f = hn::Sub(clamped, n);
  V q = number(1.326465863e-3f);
  q = hn::MulAdd(q, f, number(9.671566077e-3f));
  q = hn::MulAdd(q, f, number(5.550734326e-2f));
  q = hn::MulAdd(q, f, number(2.402224094e-1f));
  q = hn::MulAdd(q, f, number(6.931470037e-1f));
  q = hn::MulAdd(q, f, number(1.0f));
  const VI whole = hn::ConvertTo(di, n);
  const VI half = hn::ShiftRight<1>(whole);
  const VI bias = hn::Set(di, 127);
  const V low = hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V high = hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  return hn::Mul(hn::Mul(q, low), high);
}

// e^x - 1 = 2 (s (e^r - 1) + (s - 1/2)) with s = 2^(n-1), which overflows no sooner than the
// result.
HWY_INLINE V expm1(V x) {
  const V clamped = at_least(number(-30.0f), at_most(number(89.0f), x));
  const V magic = number(12582912.0f);
  const V n = hn::Sub(hn::MulAdd(clamped, number(1.44269504f), magic), magic);
  V r = hn::NegMulAdd(n, number(0.693359375f), clamped);
  r = hn::NegMulAdd(n, number(-2.12194440e-4f), r);
  const VI exponent = hn::Add(hn::ConvertTo(DI(), n), hn::Set(DI(), 126));
  const V scale = hn::BitCast(D(), hn::ShiftLeft<23>(exponent));
  const V half = hn::MulAdd(scale, expm1_of_reduced(r), hn::Sub(scale, number(0.5f)));
  // Halves of the least numbers would be rounded.
  return hn::IfThenElse(hn::Lt(hn::Abs(x), number(1e-30f)), x, hn::Add(half, half));
}

// ln(1 + x) = ln u + c / u, where u is 1 + x rounded and c what rounding lost.
HWY_INLINE V log1p(V x) {
  const V one = number(1.0f);
  const V u = hn::Add(x, one);
  const V lost =
      hn::IfThenElse(hn::Gt(x, one), hn::Sub(one, hn::Sub(u, x)), hn::Sub(x, hn::Sub(u, one)));
  const V result = hn::Add(log(u), hn::Div(lost, u));
  return hn::IfThenElse(hn::Eq(x, hn::Zero(D())), x, with_limits_of_log(u, result));
}

// Exact for powers of two, where f is 0. log2 e is 1 and what follows.
HWY_INLINE V log2(V x) {
  const Logarithm at = logarithm(x);
  const V rest = hn::NegMulAdd(hn::Mul(at.f, at.f), number(0.5f), at.tail);
  const V more = number(0.44269504089f);
  const V scaled = hn::MulAdd(at.f, more, hn::Mul(rest, more));
  const V sum = hn::Add(hn::Add(hn::Add(scaled, rest), at.f), at.n);
  return with_limits_of_log(x, sum);
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
