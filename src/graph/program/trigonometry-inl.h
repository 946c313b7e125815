// Trigonometric and hyperbolic functions, and what else is computed in doubles, for a vector of
// floats. Errors are stated in steps.h. Included once for each instruction set
// (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_TRIGONOMETRY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_TRIGONOMETRY_INL_H_
#undef HOIST_GRAPH_PROGRAM_TRIGONOMETRY_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_TRIGONOMETRY_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <cmath>

#include "graph/ops/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
// A vector has one element: the low half is all of it.
using DD = hn::Rebind<double, D>;
using VD = hn::Vec<DD>;

HWY_INLINE VD low_doubles(V x) { return hn::PromoteTo(DD(), x); }
HWY_INLINE VD high_doubles(V x) { return hn::PromoteTo(DD(), x); }
// Not DemoteTo(), which has no infinity for what is too large.
HWY_INLINE V floats_of(VD low, VD /*high*/) { return number(static_cast<float>(hn::GetLane(low))); }
#else
using DD = hn::RepartitionToWide<D>;
using VD = hn::Vec<DD>;
using DHalf = hn::Half<D>;

HWY_INLINE VD low_doubles(V x) { return hn::PromoteTo(DD(), hn::LowerHalf(DHalf(), x)); }
HWY_INLINE VD high_doubles(V x) { return hn::PromoteTo(DD(), hn::UpperHalf(DHalf(), x)); }
HWY_INLINE V floats_of(VD low, VD high) {
  return hn::Combine(D(), hn::DemoteTo(DHalf(), high), hn::DemoteTo(DHalf(), low));
}
#endif

// f of doubles, rounded once.
template <class F>
HWY_INLINE V in_doubles(V x, const F& f) {
  return floats_of(f(low_doubles(x)), f(high_doubles(x)));
}

// x = n pi / 2 + r with |r| <= pi / 4, for |x| < 2^20: the product of n and the first part of pi /
// 2 is exact (fdlibm, e_rem_pio2.c). No float is so near to a multiple that r loses accuracy.
struct Angle {
  V r;
  VI n;
};

constexpr float kFarAngle = 1048576.0f;

HWY_INLINE VD quarters(VD x) {
  const VD magic = hn::Set(DD(), 6755399441055744.0);  // 1.5 * 2^52 rounds to a whole number
  return hn::Sub(hn::MulAdd(x, hn::Set(DD(), 6.36619772367581382433e-01), magic), magic);
}
HWY_INLINE VD beyond_quarters(VD x, VD n) {
  const VD r = hn::NegMulAdd(n, hn::Set(DD(), 1.57079632673412561417e+00), x);
  return hn::NegMulAdd(n, hn::Set(DD(), 6.07710050650619224932e-11), r);
}

HWY_INLINE Angle angle(V x) {
  const VD low = low_doubles(x);
  const VD high = high_doubles(x);
  const VD low_n = quarters(low);
  const VD high_n = quarters(high);
  return {floats_of(beyond_quarters(low, low_n), beyond_quarters(high, high_n)),
          hn::ConvertTo(DI(), floats_of(low_n, high_n))};
}

// For |r| <= pi / 4: polynomials of Cephes (sinf.c, S. Moshier).
HWY_INLINE V sin_near(V r) {
  const V z = hn::Mul(r, r);
  V q = number(-1.9515295891e-4f);
  q = hn::MulAdd(q, z, number(8.3321608736e-3f));
  q = hn::MulAdd(q, z, number(-1.6666654611e-1f));
  return hn::MulAdd(hn::Mul(q, z), r, r);
}
HWY_INLINE V cos_near(V r) {
  const V z = hn::Mul(r, r);
  V q = number(2.443315711809948e-5f);
  q = hn::MulAdd(q, z, number(-1.388731625493765e-3f));
  q = hn::MulAdd(q, z, number(4.166664568298827e-2f));
  return hn::Add(hn::NegMulAdd(z, number(0.5f), number(1.0f)), hn::Mul(hn::Mul(z, z), q));
}

HWY_INLINE hn::Mask<D> has_bit(VI n, int32_t bit) {
  const DI di;
  return hn::RebindMask(D(), hn::Ne(hn::And(n, hn::Set(di, bit)), hn::Zero(di)));
}
HWY_INLINE V negated_if(hn::Mask<D> mask, V x) { return hn::IfThenElse(mask, hn::Neg(x), x); }

// Angles of 2^20 and more are libm's.
template <class F>
HWY_INLINE V with_far_angles(V x, V result, const F& of_libm) {
  const D d;
  const auto is_far = hn::Ge(hn::Abs(x), number(kFarAngle));
  if (HWY_LIKELY(hn::AllFalse(d, is_far))) return result;
  HWY_ALIGN float angles[kLanes];
  HWY_ALIGN float results[kLanes];
  hn::Store(x, d, angles);
  hn::Store(result, d, results);
  for (size_t i = 0; i < kLanes; ++i) {
    if (std::fabs(angles[i]) >= kFarAngle) results[i] = of_libm(angles[i]);
  }
  return hn::Load(d, results);
}

HWY_INLINE V sin(V x) {
  const Angle at = angle(x);
  const V either = hn::IfThenElse(has_bit(at.n, 1), cos_near(at.r), sin_near(at.r));
  const V result = negated_if(has_bit(at.n, 2), either);
  return with_far_angles(x, hn::IfThenElse(hn::Eq(x, hn::Zero(D())), x, result),
                         [](float angle) { return std::sin(angle); });
}

HWY_INLINE V cos(V x) {
  const Angle at = angle(x);
  const V either = hn::IfThenElse(has_bit(at.n, 1), sin_near(at.r), cos_near(at.r));
  const V result = negated_if(has_bit(hn::Add(at.n, hn::Set(DI(), 1)), 2), either);
  return with_far_angles(x, result, [](float angle) { return std::cos(angle); });
}

HWY_INLINE V tan(V x) {
  const Angle at = angle(x);
  const V s = sin_near(at.r);
  const V c = cos_near(at.r);
  const auto is_odd = has_bit(at.n, 1);
  const V result = hn::Div(hn::IfThenElse(is_odd, c, s), hn::IfThenElse(is_odd, hn::Neg(s), c));
  return with_far_angles(x, hn::IfThenElse(hn::Eq(x, hn::Zero(D())), x, result),
                         [](float angle) { return std::tan(angle); });
}

// What follows is Highway's for doubles, with the limits that it leaves open.
HWY_INLINE V unless_nan(V x, V result) { return hn::IfThenElse(hn::IsNaN(x), x, result); }
HWY_INLINE V unless_zero(V x, V result) {
  return unless_nan(x, hn::IfThenElse(hn::Eq(x, hn::Zero(D())), x, result));
}

HWY_INLINE V log10(V x) {
  return with_limits_of_log(x, in_doubles(x, [](VD v) { return hn::Log10(DD(), v); }));
}
HWY_INLINE V asin(V x) {
  const V result = in_doubles(x, [](VD v) { return hn::Asin(DD(), v); });
  return hn::IfThenElse(hn::Gt(hn::Abs(x), number(1.0f)), hn::NaN(D()), unless_zero(x, result));
}
HWY_INLINE V acos(V x) {
  const V result = in_doubles(x, [](VD v) { return hn::Acos(DD(), v); });
  return hn::IfThenElse(hn::Gt(hn::Abs(x), number(1.0f)), hn::NaN(D()), result);
}
HWY_INLINE V atan(V x) {
  return unless_zero(x, in_doubles(x, [](VD v) { return hn::Atan(DD(), v); }));
}
HWY_INLINE V sinh(V x) {
  const V clamped = at_least(number(-200.0f), at_most(number(200.0f), x));
  return unless_zero(x, in_doubles(clamped, [](VD v) { return hn::Sinh(DD(), v); }));
}
HWY_INLINE V cosh(V x) {
  const V clamped = at_most(number(200.0f), hn::Abs(x));
  return unless_nan(x, in_doubles(clamped, [](VD v) {
                      const VD e = hn::Exp(DD(), v);
                      const VD half = hn::Set(DD(), 0.5);
                      return hn::MulAdd(e, half, hn::Div(half, e));
                    }));
}
HWY_INLINE V asinh(V x) {
  const V result = in_doubles(x, [](VD v) { return hn::Asinh(DD(), v); });
  const auto is_infinite = hn::Eq(hn::Abs(x), hn::Inf(D()));
  return hn::IfThenElse(is_infinite, x, unless_zero(x, result));
}
HWY_INLINE V acosh(V x) {
  const V result = in_doubles(x, [](VD v) { return hn::Acosh(DD(), v); });
  const V limited = hn::IfThenElse(hn::Eq(x, hn::Inf(D())), x, result);
  return hn::IfThenElse(hn::Lt(x, number(1.0f)), hn::NaN(D()), limited);
}
HWY_INLINE V atanh(V x) {
  const V result = in_doubles(x, [](VD v) { return hn::Atanh(DD(), v); });
  const V t = hn::Abs(x);
  const V limited = hn::IfThenElse(hn::Eq(t, number(1.0f)), hn::CopySign(hn::Inf(D()), x), result);
  return hn::IfThenElse(hn::Gt(t, number(1.0f)), hn::NaN(D()), unless_zero(x, limited));
}
// Squares of floats are exact in doubles, and their sum overflows for none.
HWY_INLINE V hypot(V x, V y) {
  const auto of_two = [](VD a, VD b) { return hn::Sqrt(hn::MulAdd(a, a, hn::Mul(b, b))); };
  const V result =
      floats_of(of_two(low_doubles(x), low_doubles(y)), of_two(high_doubles(x), high_doubles(y)));
  const V infinity = hn::Inf(D());
  const auto is_infinite = hn::Or(hn::Eq(hn::Abs(x), infinity), hn::Eq(hn::Abs(y), infinity));
  return hn::IfThenElse(is_infinite, infinity, result);
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
