// The tables of steps: one source, compiled by Highway for each instruction set that Hoist tells
// apart (HOIST_ISA).
#include "graph/program/steps.h"

#include <array>
#include <cmath>
#include <vector>

#include "base/cpu.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graph/program/steps.cc"
#include <hwy/foreach_target.h>
//
#include "graph/ops/elementwise-inl.h"
#include "graph/program/column_reductions-inl.h"
#include "graph/program/exponentials-inl.h"
#include "graph/program/functions-inl.h"
#include "graph/program/row_product-inl.h"
#include "graph/program/short_rows-inl.h"
#include "graph/program/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {
namespace {

using program::kScalarA;
using program::kScalarB;
using program::kScalarC;
using program::Op;
using program::Step;
using program::StepTable;

// hn::Ne is false for NaN.
HWY_INLINE V truth(hn::Mask<D> mask) { return hn::IfThenElseZero(mask, number(1.0f)); }

struct Copy {
  HWY_INLINE V operator()(V a) const { return a; }
};
struct Exp {
  HWY_INLINE V operator()(V a) const { return exp_of_any(a); }
};
struct Log {
  HWY_INLINE V operator()(V a) const { return log(a); }
};
struct Sqrt {
  HWY_INLINE V operator()(V a) const { return hn::Sqrt(a); }
};
struct Rsqrt {
  HWY_INLINE V operator()(V a) const { return hn::Div(number(1.0f), hn::Sqrt(a)); }
};
struct Erf {
  HWY_INLINE V operator()(V a) const { return erf(a); }
};
template <V (*kFunction)(V)>
struct Of {
  HWY_INLINE V operator()(V a) const { return kFunction(a); }
};
template <V (*kFunction)(V, V)>
struct OfTwo {
  HWY_INLINE V operator()(V a, V b) const { return kFunction(a, b); }
};
// Not all targets' keep the sign of zeros.
HWY_INLINE V floor(V a) { return hn::CopySign(hn::Floor(a), a); }
HWY_INLINE V ceil(V a) { return hn::CopySign(hn::Ceil(a), a); }
HWY_INLINE V trunc(V a) { return hn::CopySign(hn::Trunc(a), a); }
HWY_INLINE V round(V a) { return hn::CopySign(hn::Round(a), a); }
HWY_INLINE V sign(V a) {
  const V one = hn::CopySign(number(1.0f), a);
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenZeroElse(hn::Eq(a, hn::Zero(D())), one));
}
// That of a NaN depends on who has computed it, so it counts as positive.
HWY_INLINE V copysign(V a, V b) { return hn::CopySign(a, hn::IfThenZeroElse(hn::IsNaN(b), b)); }
struct ToBool {
  HWY_INLINE V operator()(V a) const { return truth(hn::Not(hn::Eq(a, hn::Zero(D())))); }
};
struct IeeeMinimum {
  HWY_INLINE V operator()(V a, V b) const { return minimum(a, b); }
};
struct IeeeMaximum {
  HWY_INLINE V operator()(V a, V b) const { return maximum(a, b); }
};
struct Equal {
  HWY_INLINE V operator()(V a, V b) const { return truth(hn::Eq(a, b)); }
};
struct NotEqual {
  HWY_INLINE V operator()(V a, V b) const { return truth(hn::Not(hn::Eq(a, b))); }
};
struct Less {
  HWY_INLINE V operator()(V a, V b) const { return truth(hn::Lt(a, b)); }
};
struct LessEqual {
  HWY_INLINE V operator()(V a, V b) const { return truth(hn::Le(a, b)); }
};
struct Greater {
  HWY_INLINE V operator()(V a, V b) const { return truth(hn::Gt(a, b)); }
};
struct GreaterEqual {
  HWY_INLINE V operator()(V a, V b) const { return truth(hn::Ge(a, b)); }
};
struct Where {
  HWY_INLINE V operator()(V c, V a, V b) const {
    return hn::IfThenElse(hn::Eq(c, hn::Zero(D())), b, a);
  }
};

template <int kInputs, class F>
HWY_INLINE V call(const F& f, V a, [[maybe_unused]] V b, [[maybe_unused]] V c) {
  if constexpr (kInputs == 1) return f(a);
  if constexpr (kInputs == 2) return f(a, b);
  if constexpr (kInputs == 3) return f(a, b, c);
}

template <class F, int kInputs, unsigned kScalars>
void run(const void* in_a, const void* in_b, const void* in_c, void* to, size_t n) {
  const auto* const a = static_cast<const float*>(in_a);
  const auto* const b = static_cast<const float*>(in_b);
  const auto* const c = static_cast<const float*>(in_c);
  auto* const out = static_cast<float*>(to);
  const D d;
  const F f;
  constexpr bool kA = (kScalars & kScalarA) == 0;
  constexpr bool kB = kInputs >= 2 && (kScalars & kScalarB) == 0;
  constexpr bool kC = kInputs >= 3 && (kScalars & kScalarC) == 0;
  const V scalar_a = kA ? hn::Zero(d) : hn::Set(d, *a);
  const V scalar_b = kB || kInputs < 2 ? hn::Zero(d) : hn::Set(d, *b);
  const V scalar_c = kC || kInputs < 3 ? hn::Zero(d) : hn::Set(d, *c);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const V result =
        call<kInputs>(f, kA ? hn::LoadU(d, a + i) : scalar_a, kB ? hn::LoadU(d, b + i) : scalar_b,
                      kC ? hn::LoadU(d, c + i) : scalar_c);
    hn::StoreU(result, d, out + i);
  }
  if (i < n) {
    const auto part = part_of(d, n - i);
    const V result = call<kInputs>(f, kA ? load_part(d, a + i, part) : scalar_a,
                                   kB ? load_part(d, b + i, part) : scalar_b,
                                   kC ? load_part(d, c + i, part) : scalar_c);
    store_part(d, result, out + i, part);
  }
}

float power(float a, float b) { return std::pow(a, b); }
float atan2(float a, float b) { return std::atan2(a, b); }

template <float (*kFunction)(float, float), unsigned kScalars>
void run_libm(const void* in_a, const void* in_b, const void* /*c*/, void* to, size_t n) {
  const auto* const a = static_cast<const float*>(in_a);
  const auto* const b = static_cast<const float*>(in_b);
  auto* const out = static_cast<float*>(to);
  for (size_t i = 0; i < n; ++i) {
    out[i] =
        kFunction(a[(kScalars & kScalarA) != 0 ? 0 : i], b[(kScalars & kScalarB) != 0 ? 0 : i]);
  }
}

template <class F>
constexpr std::array<Step, 8> unary() {
  return {run<F, 1, 0>, run<F, 1, 1>};
}
template <class F>
constexpr std::array<Step, 8> binary() {
  return {run<F, 2, 0>, run<F, 2, 1>, run<F, 2, 2>, run<F, 2, 3>};
}
template <float (*kFunction)(float, float)>
constexpr std::array<Step, 8> of_libm() {
  return {run_libm<kFunction, 0>, run_libm<kFunction, 1>, run_libm<kFunction, 2>,
          run_libm<kFunction, 3>};
}
template <class F>
constexpr std::array<Step, 8> ternary() {
  return {run<F, 3, 0>, run<F, 3, 1>, run<F, 3, 2>, run<F, 3, 3>,
          run<F, 3, 4>, run<F, 3, 5>, run<F, 3, 6>, run<F, 3, 7>};
}

constexpr std::array<std::array<Step, 8>, program::kOps> all_steps() {
  std::array<std::array<Step, 8>, program::kOps> all{};
  const auto at = [&](Op op) -> std::array<Step, 8>& { return all[static_cast<size_t>(op)]; };
  at(Op::copy) = unary<Copy>();
  at(Op::negate) = unary<Negative>();
  at(Op::absolute) = unary<Absolute>();
  at(Op::exp) = unary<Exp>();
  at(Op::log) = unary<Log>();
  at(Op::sqrt) = unary<Sqrt>();
  at(Op::rsqrt) = unary<Rsqrt>();
  at(Op::tanh) = unary<Tanh>();
  at(Op::sigmoid) = unary<Sigmoid>();
  at(Op::erf) = unary<Erf>();
  at(Op::exp2) = unary<Of<exp2>>();
  at(Op::expm1) = unary<Of<expm1>>();
  at(Op::log1p) = unary<Of<log1p>>();
  at(Op::log2) = unary<Of<log2>>();
  at(Op::log10) = unary<Of<log10>>();
  at(Op::sin) = unary<Of<sin>>();
  at(Op::cos) = unary<Of<cos>>();
  at(Op::tan) = unary<Of<tan>>();
  at(Op::asin) = unary<Of<asin>>();
  at(Op::acos) = unary<Of<acos>>();
  at(Op::atan) = unary<Of<atan>>();
  at(Op::sinh) = unary<Of<sinh>>();
  at(Op::cosh) = unary<Of<cosh>>();
  at(Op::asinh) = unary<Of<asinh>>();
  at(Op::acosh) = unary<Of<acosh>>();
  at(Op::atanh) = unary<Of<atanh>>();
  at(Op::floor) = unary<Of<floor>>();
  at(Op::ceil) = unary<Of<ceil>>();
  at(Op::trunc) = unary<Of<trunc>>();
  at(Op::round) = unary<Of<round>>();
  at(Op::sign) = unary<Of<sign>>();
  at(Op::relu) = unary<Relu>();
  at(Op::to_bool) = unary<ToBool>();
  at(Op::cast) = unary<Copy>();
  at(Op::add) = binary<Add>();
  at(Op::subtract) = binary<Subtract>();
  at(Op::multiply) = binary<Multiply>();
  at(Op::divide) = binary<Divide>();
  at(Op::minimum) = binary<IeeeMinimum>();
  at(Op::maximum) = binary<IeeeMaximum>();
  at(Op::copysign) = binary<OfTwo<copysign>>();
  at(Op::hypot) = binary<OfTwo<hypot>>();
  at(Op::atan2) = of_libm<atan2>();
  at(Op::power) = of_libm<power>();
  at(Op::equal) = binary<Equal>();
  at(Op::not_equal) = binary<NotEqual>();
  at(Op::less) = binary<Less>();
  at(Op::less_equal) = binary<LessEqual>();
  at(Op::greater) = binary<Greater>();
  at(Op::greater_equal) = binary<GreaterEqual>();
  at(Op::where) = ternary<Where>();
  return all;
}

float minimum_of_all(const float* a, size_t n) { return extreme_of<IeeeMinimum>(a, n); }
float maximum_of_all(const float* a, size_t n) { return extreme_of<IeeeMaximum>(a, n); }
float sum_of_few(const float* a, size_t n) { return short_sum(a, n); }

}  // namespace

extern const StepTable kSteps;
const StepTable kSteps = {
#if HWY_TARGET == HWY_AVX3
    .name = "avx512",
#elif HWY_TARGET == HWY_AVX2
    .name = "avx2",
#else
    .name = "scalar",
#endif
    .fuses = HWY_NATIVE_FMA != 0,
    .table = all_steps(),
    .minimum = minimum_of_all,
    .maximum = maximum_of_all,
    .sum_of_few = sum_of_few,
    .column_sums = column_sums,
    .column_minima = column_extremes<IeeeMinimum>,
    .column_maxima = column_extremes<IeeeMaximum>,
    .row_product = row_product,
};

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hoist::graph::program {

float minimum_of(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

float maximum_of(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

std::span<const StepTable* const> runnable_steps() {
  static const std::vector<const StepTable*> all = [] {
    std::vector<const StepTable*> found;
    const CpuFeatures& cpu = cpu_features();
#if HWY_TARGETS & HWY_AVX3
    if (cpu.avx512 && cpu.bmi2) found.push_back(&N_AVX3::kSteps);
#endif
#if HWY_TARGETS & HWY_AVX2
    if (cpu.avx2 && cpu.bmi2) found.push_back(&N_AVX2::kSteps);
#endif
    found.push_back(&HWY_NAMESPACE::kSteps);
    return found;
  }();
  return all;
}

const StepTable& steps() {
  static const StepTable& widest = *runnable_steps().front();
  return widest;
}

}  // namespace hoist::graph::program
#endif
