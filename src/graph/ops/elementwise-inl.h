// What is done to one element, or to one of each of two arrays. Included once for each instruction
// set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_ELEMENTWISE_INL_H_
#undef HOIST_GRAPH_ELEMENTWISE_INL_H_
#else
#define HOIST_GRAPH_ELEMENTWISE_INL_H_
#endif

#include "graph/ops/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

// NOLINTBEGIN(readability-identifier-naming)
struct Add {
  HWY_INLINE V operator()(V a, V b) const { return hn::Add(a, b); }
};
struct Subtract {
  HWY_INLINE V operator()(V a, V b) const { return hn::Sub(a, b); }
};
struct Multiply {
  HWY_INLINE V operator()(V a, V b) const { return hn::Mul(a, b); }
};
struct Divide {
  HWY_INLINE V operator()(V a, V b) const { return hn::Div(a, b); }
};
// NOLINTEND(readability-identifier-naming)

// a where a is less, or is NaN; b is NaN where only it is.
struct Minimum {
  HWY_INLINE V operator()(V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  }
  HWY_INLINE float of_two(float a, float b) const { return a < b || a != a ? a : b; }
};
struct Maximum {
  HWY_INLINE V operator()(V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
  HWY_INLINE float of_two(float a, float b) const { return a > b || a != a ? a : b; }
};
// a where a is less, or b is NaN.
struct Fmin {
  HWY_INLINE V operator()(V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(b)), a, b);
  }
  HWY_INLINE float of_two(float a, float b) const { return a < b || b != b ? a : b; }
};
struct Fmax {
  HWY_INLINE V operator()(V a, V b) const {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(b)), a, b);
  }
  HWY_INLINE float of_two(float a, float b) const { return a > b || b != b ? a : b; }
};

struct Absolute {
  HWY_INLINE V operator()(V a) const { return hn::Abs(a); }
};
struct Negative {
  HWY_INLINE V operator()(V a) const { return hn::Neg(a); }
};
struct Relu {
  HWY_INLINE V operator()(V a) const {
    return hn::IfThenElse(hn::Lt(a, hn::Zero(D())), hn::Zero(D()), a);
  }
};
struct Frelu {
  HWY_INLINE V operator()(V a) const { return hn::IfThenElseZero(hn::Gt(a, hn::Zero(D())), a); }
};
struct Sigmoid {
  HWY_INLINE V operator()(V a) const { return sigmoid(a); }
};
struct Tanh {
  HWY_INLINE V operator()(V a) const { return tanh(a); }
};
struct GeluTanh {
  HWY_INLINE V operator()(V a) const { return gelu_tanh(a); }
};
struct GeluErf {
  HWY_INLINE V operator()(V a) const { return gelu_erf(a); }
};

struct Plus {
  V addend;
  HWY_INLINE V operator()(V a) const { return hn::Add(a, addend); }
};
struct Times {
  V factor;
  HWY_INLINE V operator()(V a) const { return hn::Mul(a, factor); }
};
struct Clip {
  V low;
  V high;
  HWY_INLINE V operator()(V a) const { return Minimum()(Maximum()(a, low), high); }
};
struct Fclip {
  V low;
  V high;
  HWY_INLINE V operator()(V a) const { return Fmin()(Fmax()(a, low), high); }
};
struct ExpAbove {
  V largest;
  HWY_INLINE V operator()(V a) const { return exp_up_to_88(hn::Sub(a, largest)); }
};

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
