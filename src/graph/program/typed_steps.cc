// The tables of steps for f64 and integers, and casts; compiled by Highway for each instruction
// set.
#include "graph/program/typed_steps.h"

#include <vector>

#include "base/cpu.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graph/program/typed_steps.cc"
#include <hwy/foreach_target.h>
//
#include "graph/program/cast_steps-inl.h"
#include "graph/program/doubles-inl.h"
#include "graph/program/element_loops-inl.h"
#include "graph/program/element_moves-inl.h"
#include "graph/program/typed_columns-inl.h"
#include "graph/program/typed_functions-inl.h"
#include "graph/program/typed_products-inl.h"
#include "graph/program/typed_reductions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {
namespace {

using program::kOps;
using program::Op;
using program::TypedSteps;

template <class F>
constexpr TypedSteps::Row vectors() {
  return {doubles::run<F, false>, doubles::run<F, true>};
}

template <class T>
constexpr std::array<TypedSteps::Row, kOps> common_steps() {
  std::array<TypedSteps::Row, kOps> all{};
  const auto at = [&](Op op) -> TypedSteps::Row& { return all[static_cast<size_t>(op)]; };
  at(Op::copy) = one<typed::Copy, T>();
  at(Op::negate) = one<typed::Negative, T>();
  at(Op::absolute) = one<typed::Absolute, T>();
  at(Op::relu) = one<typed::Relu, T>();
  at(Op::sign) = one<typed::Sign, T>();
  for (const Op op : {Op::floor, Op::ceil, Op::trunc, Op::round}) at(op) = one<typed::Copy, T>();
  at(Op::add) = two<typed::Add, T>();
  at(Op::subtract) = two<typed::Subtract, T>();
  at(Op::multiply) = two<typed::Multiply, T>();
  at(Op::minimum) = two<typed::Minimum, T>();
  at(Op::maximum) = two<typed::Maximum, T>();
  at(Op::power) = two<typed::Power, T>();
  at(Op::equal) = two<typed::Equal, T, float>();
  at(Op::not_equal) = two<typed::NotEqual, T, float>();
  at(Op::less) = two<typed::Less, T, float>();
  at(Op::less_equal) = two<typed::LessEqual, T, float>();
  at(Op::greater) = two<typed::Greater, T, float>();
  at(Op::greater_equal) = two<typed::GreaterEqual, T, float>();
  at(Op::where) = three<typed::Where, float, T>();
  return all;
}

template <class T>
constexpr std::array<TypedSteps::Row, kOps> integer_steps() {
  std::array<TypedSteps::Row, kOps> all = common_steps<T>();
  const auto at = [&](Op op) -> TypedSteps::Row& { return all[static_cast<size_t>(op)]; };
  at(Op::floor_divide) = two<typed::FloorDivide, T>();
  at(Op::remainder) = two<typed::Remainder, T>();
  at(Op::bitwise_and) = two<typed::And, T>();
  at(Op::bitwise_or) = two<typed::Or, T>();
  at(Op::bitwise_xor) = two<typed::Xor, T>();
  at(Op::bitwise_invert) = one<typed::Invert, T>();
  at(Op::left_shift) = two<typed::LeftShift, T>();
  at(Op::right_shift) = two<typed::RightShift, T>();
  return all;
}

// What StepTable lacks: divisions of numbers, logic of booleans.
constexpr std::array<TypedSteps::Row, kOps> f32_steps() {
  std::array<TypedSteps::Row, kOps> all{};
  const auto at = [&](Op op) -> TypedSteps::Row& { return all[static_cast<size_t>(op)]; };
  at(Op::floor_divide) = two<typed::FloorDivide, float>();
  at(Op::remainder) = two<typed::Remainder, float>();
  at(Op::bitwise_and) = two<typed::And, float>();
  at(Op::bitwise_or) = two<typed::Or, float>();
  at(Op::bitwise_xor) = two<typed::Xor, float>();
  at(Op::bitwise_invert) = one<typed::Invert, float>();
  return all;
}

constexpr std::array<TypedSteps::Row, kOps> f64_steps() {
  std::array<TypedSteps::Row, kOps> all = common_steps<double>();
  const auto at = [&](Op op) -> TypedSteps::Row& { return all[static_cast<size_t>(op)]; };
  at(Op::floor_divide) = two<typed::FloorDivide, double>();
  at(Op::remainder) = two<typed::Remainder, double>();
  at(Op::divide) = two<typed::Divide, double>();
  at(Op::exp) = vectors<doubles::Exp>();
  at(Op::log) = vectors<doubles::Log>();
  at(Op::sqrt) = vectors<doubles::Sqrt>();
  at(Op::rsqrt) = vectors<doubles::Rsqrt>();
  at(Op::tanh) = vectors<doubles::Tanh>();
  at(Op::sigmoid) = vectors<doubles::Sigmoid>();
  at(Op::erf) = one<typed::Erf, double>();
  at(Op::exp2) = one<typed::Libm<::exp2>, double>();
  at(Op::expm1) = one<typed::Libm<::expm1>, double>();
  at(Op::log1p) = one<typed::Libm<::log1p>, double>();
  at(Op::log2) = one<typed::Libm<::log2>, double>();
  at(Op::log10) = one<typed::Libm<::log10>, double>();
  at(Op::sin) = one<typed::Libm<::sin>, double>();
  at(Op::cos) = one<typed::Libm<::cos>, double>();
  at(Op::tan) = one<typed::Libm<::tan>, double>();
  at(Op::asin) = one<typed::Libm<::asin>, double>();
  at(Op::acos) = one<typed::Libm<::acos>, double>();
  at(Op::atan) = one<typed::Libm<::atan>, double>();
  at(Op::sinh) = one<typed::Libm<::sinh>, double>();
  at(Op::cosh) = one<typed::Libm<::cosh>, double>();
  at(Op::asinh) = one<typed::Libm<::asinh>, double>();
  at(Op::acosh) = one<typed::Libm<::acosh>, double>();
  at(Op::atanh) = one<typed::Libm<::atanh>, double>();
  at(Op::floor) = one<typed::Libm<::floor>, double>();
  at(Op::ceil) = one<typed::Libm<::ceil>, double>();
  at(Op::trunc) = one<typed::Libm<::trunc>, double>();
  at(Op::round) = one<typed::Libm<::nearbyint>, double>();
  at(Op::copysign) = two<typed::LibmOfTwo<typed::with_sign_of>, double>();
  at(Op::hypot) = two<typed::LibmOfTwo<::hypot>, double>();
  at(Op::atan2) = two<typed::LibmOfTwo<::atan2>, double>();
  return all;
}

}  // namespace

extern const TypedSteps kTypedSteps;
const TypedSteps kTypedSteps = {
#if HWY_TARGET == HWY_AVX3
    .name = "avx512",
#elif HWY_TARGET == HWY_AVX2
    .name = "avx2",
#else
    .name = "scalar",
#endif
    .table = {{f32_steps(), f64_steps(), integer_steps<int64_t>(), integer_steps<uint64_t>()}},
    .casts = {casts_from<float>(), casts_from<double>(), casts_from<int64_t>(),
              casts_from<uint64_t>()},
    .widened = all_moves<true>(),
    .narrowed = all_moves<false>(),
    .sum_f64 = typed::reduced<double, typed::Added>,
    .sum_i64 = typed::sum_of_integers,
    .multiplied_f32 = typed::reduced<float, typed::Multiplied>,
    .multiplied_f64 = typed::reduced<double, typed::Multiplied>,
    .multiplied_u64 = typed::reduced<uint64_t, typed::Multiplied>,
    .extreme_f64 = {typed::extreme<typed::Minimum, double, double>,
                    typed::extreme<typed::Maximum, double, double>},
    .extreme_i64 = {typed::extreme<typed::Minimum, int64_t, int64_t>,
                    typed::extreme<typed::Maximum, int64_t, int64_t>},
    .extreme_u64 = {typed::extreme<typed::Minimum, uint64_t, int64_t>,
                    typed::extreme<typed::Maximum, uint64_t, int64_t>},
    .find_f32 = typed::find<float>,
    .find_f64 = typed::find<double>,
    .find_i64 = typed::find<int64_t>,
    .column_sums = {nullptr, typed::column_sums_f64, typed::column_folds<int64_t, typed::Add>,
                    typed::column_folds<uint64_t, typed::Add>},
    .column_minima = {nullptr, typed::column_folds<double, typed::Minimum>,
                      typed::column_folds<int64_t, typed::Minimum>,
                      typed::column_folds<uint64_t, typed::Minimum>},
    .column_maxima = {nullptr, typed::column_folds<double, typed::Maximum>,
                      typed::column_folds<int64_t, typed::Maximum>,
                      typed::column_folds<uint64_t, typed::Maximum>},
    .product_f64 = typed::product_f64,
    .product_i64 = typed::product_i64,
};

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hoist::graph::program {

std::span<const TypedSteps* const> runnable_typed_steps() {
  static const std::vector<const TypedSteps*> all = [] {
    std::vector<const TypedSteps*> found;
    const CpuFeatures& cpu = cpu_features();
#if HWY_TARGETS & HWY_AVX3
    if (cpu.avx512 && cpu.bmi2) found.push_back(&N_AVX3::kTypedSteps);
#endif
#if HWY_TARGETS & HWY_AVX2
    if (cpu.avx2 && cpu.bmi2) found.push_back(&N_AVX2::kTypedSteps);
#endif
    found.push_back(&HWY_NAMESPACE::kTypedSteps);
    return found;
  }();
  return all;
}

const TypedSteps& typed_steps() {
  static const TypedSteps& widest = *runnable_typed_steps().front();
  return widest;
}

double minimum_of(double a, double b) { return HWY_NAMESPACE::typed::Minimum::of(a, b); }
double maximum_of(double a, double b) { return HWY_NAMESPACE::typed::Maximum::of(a, b); }

Step step_for(Op op, Lanes lanes, DType dtype, unsigned scalars) {
  const auto kind = static_cast<size_t>(lanes);
  if (op == Op::cast || op == Op::to_bool) {
    return typed_steps().casts[kind][static_cast<size_t>(dtype)][scalars];
  }
  if (const Step step = steps().step(op, scalars); lanes == Lanes::f32 && step != nullptr) {
    return step;
  }
  return typed_steps().table[kind][static_cast<size_t>(op)][scalars];
}

}  // namespace hoist::graph::program
#endif
