// exp, log and what is made of them, for a vector of floats. Errors are stated in ops.h. Included
// once for each instruction set (hwy/foreach_target.h).
//
// exp(x) = 2^n exp(r) with n = round(x / ln 2) and |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 q(r),
// where q is the polynomial of least relative error. ln 2 is split in two so that n * kLn2High is
// exact (Cody and Waite, Software Manual for the Elementary Functions, chapter 6).
#if defined(HOIST_GRAPH_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_FUNCTIONS_INL_H_
#undef HOIST_GRAPH_FUNCTIONS_INL_H_
#else
#define HOIST_GRAPH_FUNCTIONS_INL_H_
#endif

#include "graph/ops/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

HWY_INLINE V number(float value) { return hn::Set(D(), value); }

// x = n ln 2 + r; `scale` is 2^n.
struct Reduced {
  V r;
  V scale;
};

// For -127 <= n <= 127; 2^-127 counts as 0.
HWY_INLINE Reduced reduce(V x) {
  // Adding 1.5 * 2^23 rounds to a whole number, which then lies in the lowest bits; 127 more is
  // what a float's exponent has more.
  const V magic = number(12582912.0f + 127.0f);
  const V shifted = hn::MulAdd(x, number(1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, number(0.693359375f), x);
  r = hn::NegMulAdd(n, number(-2.12194440e-4f), r);
  return {r, hn::BitCast(D(), hn::ShiftLeft<23>(hn::BitCast(DI(), shifted)))};
}

// exp(r) - 1 for a reduced r.
HWY_INLINE V expm1_of_reduced(V r) {
  V q = number(1.381454058e-3f);
  q = hn::MulAdd(q, r, number(8.368745446e-3f));
  q = hn::MulAdd(q, r, number(4.166838899e-2f));
  q = hn::MulAdd(q, r, number(1.666652113e-1f));
  q = hn::MulAdd(q, r, number(4.999999404e-1f));
  return hn::MulAdd(hn::Mul(r, r), q, r);
}

// max(x, low) and min(x, high) that leave a NaN alone: the processor's give the second of two
// numbers that cannot be compared. Cheaper than a comparison and a choice.
HWY_INLINE V at_least(V low, V x) {
#if HWY_TARGET <= HWY_AVX2
  return hn::Max(low, x);
#else
  return hn::IfThenElse(hn::Lt(x, low), low, x);
#endif
}
HWY_INLINE V at_most(V high, V x) {
#if HWY_TARGET <= HWY_AVX2
  return hn::Min(high, x);
#else
  return hn::IfThenElse(hn::Gt(x, high), high, x);
#endif
}

// 0 from -87.7 down, where n is -127. For x <= 88.
HWY_INLINE V exp_up_to_88(V x) {
  const Reduced at = reduce(at_least(number(-88.0f), x));
  return hn::MulAdd(at.scale, expm1_of_reduced(at.r), at.scale);
}

// e^x / (1 + e^x)
HWY_INLINE V sigmoid(V x) {
  const V e = exp_up_to_88(at_most(number(88.0f), x));
  return hn::Div(e, hn::Add(e, number(1.0f)));
}

// With t = e^(2|x|) - 1: t / (t + 2), which loses nothing near 0.
HWY_INLINE V tanh(V x) {
  const V doubled = hn::Abs(hn::Add(x, x));
  const Reduced at = reduce(at_most(number(20.0f), doubled));
  const V t = hn::MulAdd(at.scale, expm1_of_reduced(at.r), hn::Sub(at.scale, number(1.0f)));
  return hn::CopySign(hn::Div(t, hn::Add(t, number(2.0f))), x);
}

// x (1 + tanh u) / 2 = x 2^t / (1 + 2^t), u = sqrt(2 / pi) (x + 0.044715 x^3) and
// t = 2 u log2 e; 2^f for |f| <= 1/2 by the polynomial of least relative error.
HWY_INLINE V gelu_tanh(V x) {
  const V cubic = hn::MulAdd(hn::Mul(x, x), number(0.10294324f), number(2.3022082f));
  const V t = at_least(number(-127.0f), at_most(number(127.0f), hn::Mul(x, cubic)));
  const V magic = number(12582912.0f + 127.0f);
  const V shifted = hn::Add(t, magic);
  const V f = hn::Sub(t, hn::Sub(shifted, magic));
  const V scale = hn::BitCast(D(), hn::ShiftLeft<23>(hn::BitCast(DI(), shifted)));
  V q = number(1.326465863e-3f);
  q = hn::MulAdd(q, f, number(9.671566077e-3f));
  q = hn::MulAdd(q, f, number(5.550734326e-2f));
  q = hn::MulAdd(q, f, number(2.402224094e-1f));
  q = hn::MulAdd(q, f, number(6.931470037e-1f));
  q = hn::MulAdd(q, f, number(1.0f));
  const V e = hn::Mul(q, scale);
  return hn::Mul(x, hn::Div(e, hn::Add(e, number(1.0f))));
}

// x P(x), where P is the normal distribution function: P(-|x|) = erfc(z) / 2 with z = |x| / sqrt 2.
// erfc by the Chebyshev fit of Numerical Recipes (2nd edition, section 6.2), of fractional
// error 1.2e-7.
HWY_INLINE V gelu_erf(V x) {
  const V z = hn::Mul(hn::Abs(x), number(0.707106781f));
  const V t = hn::Div(number(1.0f), hn::MulAdd(z, number(0.5f), number(1.0f)));
  V q = number(0.17087277f);
  q = hn::MulAdd(q, t, number(-0.82215223f));
  q = hn::MulAdd(q, t, number(1.48851587f));
  q = hn::MulAdd(q, t, number(-1.13520398f));
  q = hn::MulAdd(q, t, number(0.27886807f));
  q = hn::MulAdd(q, t, number(-0.18628806f));
  q = hn::MulAdd(q, t, number(0.09678418f));
  q = hn::MulAdd(q, t, number(0.37409196f));
  q = hn::MulAdd(q, t, number(1.00002368f));
  q = hn::MulAdd(q, t, number(-1.26551223f));
  const V tail = hn::Mul(hn::Mul(t, number(0.5f)), exp_up_to_88(hn::NegMulAdd(z, z, q)));
  const V share = hn::IfThenElse(hn::Lt(x, hn::Zero(D())), tail, hn::Sub(number(1.0f), tail));
  return hn::Mul(x, share);
}

// x = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt 2), and ln(1 + f) = f - f^2 / 2 + tail, by the
// polynomial of Cephes (logf.c, S. Moshier). For x > 0.
struct Logarithm {
  V n;
  V f;
  V tail;
};

HWY_INLINE Logarithm logarithm(V x) {
  const D d;
  const DI di;
  const auto is_small = hn::Lt(x, number(1.17549435e-38f));
  const V scaled = hn::IfThenElse(is_small, hn::Mul(x, number(33554432.0f)), x);  // 2^25
  const VI bits = hn::BitCast(di, scaled);
  const VI offset = hn::Sub(bits, hn::Set(di, 0x3f3504f3));
  const VI exponent = hn::ShiftRight<23>(offset);
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const V n =
      hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElse(is_small, number(25.0f), hn::Zero(d)));
  const V f = hn::Sub(m, number(1.0f));
  V q = number(7.0376836292e-2f);
  q = hn::MulAdd(q, f, number(-1.1514610310e-1f));
  q = hn::MulAdd(q, f, number(1.1676998740e-1f));
  q = hn::MulAdd(q, f, number(-1.2420140846e-1f));
  q = hn::MulAdd(q, f, number(1.4249322787e-1f));
  q = hn::MulAdd(q, f, number(-1.6668057665e-1f));
  q = hn::MulAdd(q, f, number(2.0000714765e-1f));
  q = hn::MulAdd(q, f, number(-2.4999993993e-1f));
  q = hn::MulAdd(q, f, number(3.3333331174e-1f));
  return {n, f, hn::Mul(hn::Mul(q, f), hn::Mul(f, f))};
}

// A logarithm of x with its limits: NaN for x < 0, -infinity for 0, infinity for infinity.
HWY_INLINE V with_limits_of_log(V x, V result) {
  const D d;
  const V infinity = hn::Inf(d);
  result = hn::IfThenElse(hn::Lt(x, infinity), result, hn::Add(x, infinity));  // infinity and NaN
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::NaN(d), result);
}

// ln x
HWY_INLINE V log(V x) {
  const Logarithm at = logarithm(x);
  V q = hn::MulAdd(at.n, number(-2.12194440e-4f), at.tail);
  q = hn::NegMulAdd(hn::Mul(at.f, at.f), number(0.5f), q);
  return with_limits_of_log(x, hn::MulAdd(at.n, number(0.693359375f), hn::Add(at.f, q)));
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
