// Functions of doubles, a vector at a time: Highway's, with their limits. Errors are stated in
// typed_steps.h. Included once for each instruction set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_DOUBLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_DOUBLES_INL_H_
#undef HOIST_GRAPH_PROGRAM_DOUBLES_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_DOUBLES_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE::doubles {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

HWY_INLINE V number(double value) { return hn::Set(D(), value); }
HWY_INLINE V or_nan(V x, V otherwise) { return hn::IfThenElse(hn::IsNaN(x), x, otherwise); }

// Beyond 710 and -746 it is infinity and 0.
HWY_INLINE V exp_of_number(V x) {
  return hn::Exp(D(), hn::Max(number(-746), hn::Min(number(710), x)));
}

struct Exp {
  static HWY_INLINE V of(V x) { return or_nan(x, exp_of_number(x)); }
};
struct Log {
  static HWY_INLINE V of(V x) {
    const V infinity = number(std::numeric_limits<double>::infinity());
    const V nan = number(std::numeric_limits<double>::quiet_NaN());
    const V zero = hn::Zero(D());
    V result = hn::IfThenElse(hn::Eq(x, infinity), infinity, hn::Log(D(), x));
    result = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), result);
    return hn::IfThenElse(hn::Ge(x, zero), result, nan);
  }
};
struct Sqrt {
  static HWY_INLINE V of(V x) { return hn::Sqrt(x); }
};
struct Rsqrt {
  static HWY_INLINE V of(V x) { return hn::Div(number(1), hn::Sqrt(x)); }
};
// By the magnitude: e^2x - 1 of numbers above 0 loses nothing.
struct Tanh {
  static HWY_INLINE V of(V x) {
    const V y = hn::Expm1(D(), hn::Min(hn::Abs(hn::Add(x, x)), number(40)));
    return or_nan(x, hn::CopySign(hn::Div(y, hn::Add(y, number(2))), x));
  }
};
// By exp of what is not above 0, on both sides: that is never infinite.
struct Sigmoid {
  static HWY_INLINE V of(V x) {
    const V e = exp_of_number(hn::Neg(hn::Abs(x)));
    const V above = hn::IfThenElse(hn::Lt(x, hn::Zero(D())), e, number(1));
    return or_nan(x, hn::Div(above, hn::Add(number(1), e)));
  }
};

template <class F, bool kIsScalar>
void run(const void* in, const void* /*b*/, const void* /*c*/, void* to, size_t n) {
  const D d;
  const auto* const a = static_cast<const double*>(in);
  auto* const out = static_cast<double*>(to);
  if constexpr (kIsScalar) {
    std::fill_n(out, n, hn::GetLane(F::of(hn::Set(d, *a))));
    return;
  }
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(F::of(hn::LoadU(d, a + i)), d, out + i);
  if (i == n) return;
  HWY_ALIGN double rest[hn::MaxLanes(d)] = {};
  std::memcpy(rest, a + i, (n - i) * sizeof(double));
  hn::Store(F::of(hn::Load(d, rest)), d, rest);
  std::memcpy(out + i, rest, (n - i) * sizeof(double));
}

}  // namespace hoist::graph::HWY_NAMESPACE::doubles
HWY_AFTER_NAMESPACE();
#endif
