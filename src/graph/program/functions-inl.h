// Functions of programs that graph/ops lacks, for a vector of floats. Errors are stated in steps.h.
// Included once for each instruction set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_FUNCTIONS_INL_H_
#undef HOIST_GRAPH_PROGRAM_FUNCTIONS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_FUNCTIONS_INL_H_
#endif

#include "graph/ops/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

// e^x for all x: 2^n is applied in two halves, so that results below 2^-126 are rounded once and
// those above the largest number become infinity.
HWY_INLINE V exp_of_any(V x) {
  const V clamped = at_least(number(-105.0f), at_most(number(90.0f), x));
  const V magic = number(12582912.0f);
  const V n = hn::Sub(hn::MulAdd(clamped, number(1.44269504f), magic), magic);
  V r = hn::NegMulAdd(n, number(0.693359375f), clamped);
  r = hn::NegMulAdd(n, number(-2.12194440e-4f), r);
  const DI di;
  const VI whole = hn::ConvertTo(di, n);
  const VI half = hn::ShiftRight<1>(whole);
  const VI bias = hn::Set(di, 127);
  const V low = hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V high = hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  return hn::Mul(hn::Mul(hn::Add(expm1_of_reduced(r), number(1.0f)), low), high);
}

// Below 0.93 x + x q(x^2), from there on 1 - e^(-t g(t)) with t = |x|, g(t) = -ln(erfc t) / t: both
// polynomials of least error, by the algorithm of Lawson.
HWY_INLINE V erf(V x) {
  const V t = hn::Abs(x);
  const V s = hn::Mul(x, x);
  V q = number(8.345225069e-5f);
  q = hn::MulAdd(q, s, number(-8.137437399e-4f));
  q = hn::MulAdd(q, s, number(5.200634244e-3f));
  q = hn::MulAdd(q, s, number(-2.685927041e-2f));
  q = hn::MulAdd(q, s, number(1.128369421e-1f));
  q = hn::MulAdd(q, s, number(-3.761263490e-1f));
  q = hn::MulAdd(q, s, number(1.283791661e-1f));
  const V near = hn::MulAdd(q, x, x);
  const V clamped = at_most(number(4.0f), t);
  V g = number(1.076336048e-5f);
  g = hn::MulAdd(g, clamped, number(-3.180614731e-4f));
  g = hn::MulAdd(g, clamped, number(3.622925688e-3f));
  g = hn::MulAdd(g, clamped, number(-2.372019924e-2f));
  g = hn::MulAdd(g, clamped, number(1.061876267e-1f));
  g = hn::MulAdd(g, clamped, number(6.351814866e-1f));
  g = hn::MulAdd(g, clamped, number(1.128641009f));
  const V far = hn::Sub(number(1.0f), exp_up_to_88(hn::Neg(hn::Mul(clamped, g))));
  return hn::IfThenElse(hn::Lt(t, number(0.93f)), near, hn::CopySign(far, x));
}

// minimum and maximum of IEEE 754-2019: they order -0 below +0, so that no order of a reduction
// changes its result.
HWY_INLINE V nan_of(V a, V b, V otherwise) {
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), otherwise);
}
HWY_INLINE V minimum(V a, V b) { return nan_of(a, b, hn::Or(hn::Min(a, b), hn::Min(b, a))); }
HWY_INLINE V maximum(V a, V b) { return nan_of(a, b, hn::And(hn::Max(a, b), hn::Max(b, a))); }

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
