// The tables of steps on elements as they lie in memory; compiled by Highway for each instruction
// set.
#include "graph/program/narrow_steps.h"

#include <vector>

#include "base/cpu.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graph/program/narrow_steps.cc"
#include <hwy/foreach_target.h>
//
#include "graph/program/element_loops-inl.h"
#include "graph/program/narrow_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {
namespace {

using array::DType;
using program::kOps;
using program::NarrowSteps;
using program::Op;
using program::StepRow;
using Table = std::array<StepRow, kOps>;

constexpr StepRow& at(Table& table, Op op) { return table[static_cast<size_t>(op)]; }

template <class T>
constexpr Table comparisons() {
  Table all{};
  at(all, Op::equal) = two<narrow::Compared<typed::Equal>, T, uint8_t>();
  at(all, Op::not_equal) = two<narrow::Compared<typed::NotEqual>, T, uint8_t>();
  at(all, Op::less) = two<narrow::Compared<typed::Less>, T, uint8_t>();
  at(all, Op::less_equal) = two<narrow::Compared<typed::LessEqual>, T, uint8_t>();
  at(all, Op::greater) = two<narrow::Compared<typed::Greater>, T, uint8_t>();
  at(all, Op::greater_equal) = two<narrow::Compared<typed::GreaterEqual>, T, uint8_t>();
  at(all, Op::where) = three<typed::Where, uint8_t, T>();
  return all;
}

// Where signs count for nothing, the unsigned type's steps are those of both.
template <class T>
constexpr Table integers() {
  using U = std::make_unsigned_t<T>;
  Table all = comparisons<T>();
  at(all, Op::negate) = one<typed::Negative, U>();
  at(all, Op::absolute) = one<typed::Absolute, T>();
  at(all, Op::add) = two<typed::Add, U>();
  at(all, Op::subtract) = two<typed::Subtract, U>();
  at(all, Op::multiply) = two<typed::Multiply, U>();
  at(all, Op::minimum) = two<narrow::Minimum, T>();
  at(all, Op::maximum) = two<narrow::Maximum, T>();
  at(all, Op::floor_divide) = two<narrow::FloorDivide, T>();
  at(all, Op::remainder) = two<narrow::Remainder, T>();
  at(all, Op::bitwise_and) = two<typed::And, U>();
  at(all, Op::bitwise_or) = two<typed::Or, U>();
  at(all, Op::bitwise_xor) = two<typed::Xor, U>();
  at(all, Op::bitwise_invert) = one<typed::Invert, U>();
  at(all, Op::left_shift) = two<narrow::LeftShift, U>();
  at(all, Op::right_shift) = two<narrow::RightShift, T>();
  return all;
}

constexpr Table logic() {
  Table all{};
  at(all, Op::bitwise_and) = two<narrow::And, uint8_t>();
  at(all, Op::bitwise_or) = two<narrow::Or, uint8_t>();
  at(all, Op::bitwise_xor) = two<narrow::Xor, uint8_t>();
  at(all, Op::bitwise_invert) = one<narrow::Invert, uint8_t>();
  return all;
}

constexpr std::array<Table, 16> all_types() {
  std::array<Table, 16> all{};
  const auto of = [&](DType dtype) -> Table& { return all[static_cast<size_t>(dtype)]; };
  of(DType::boolean) = logic();
  of(DType::i8) = integers<int8_t>();
  of(DType::i16) = integers<int16_t>();
  of(DType::i32) = integers<int32_t>();
  of(DType::u8) = integers<uint8_t>();
  of(DType::u16) = integers<uint16_t>();
  of(DType::u32) = integers<uint32_t>();
  of(DType::i64) = comparisons<int64_t>();
  of(DType::u64) = comparisons<uint64_t>();
  of(DType::f32) = comparisons<float>();
  of(DType::f64) = comparisons<double>();
  return all;
}

template <class F, class From, class To>
constexpr StepRow cast() {
  return {run_typed<F, From, From, To, 1, 0>, run_typed<F, From, From, To, 1, 1>};
}

template <class From, bool kIsBoolean>
constexpr std::array<StepRow, 16> casts_to_all() {
  std::array<StepRow, 16> all{};
  const auto of = [&](DType dtype) -> StepRow& { return all[static_cast<size_t>(dtype)]; };
  of(DType::boolean) = cast<narrow::ToBoolean<From>, From, uint8_t>();
  of(DType::i8) = cast<narrow::Cast<From, kIsBoolean, int8_t>, From, int8_t>();
  of(DType::i16) = cast<narrow::Cast<From, kIsBoolean, int16_t>, From, int16_t>();
  of(DType::i32) = cast<narrow::Cast<From, kIsBoolean, int32_t>, From, int32_t>();
  of(DType::i64) = cast<narrow::Cast<From, kIsBoolean, int64_t>, From, int64_t>();
  of(DType::u8) = cast<narrow::Cast<From, kIsBoolean, uint8_t>, From, uint8_t>();
  of(DType::u16) = cast<narrow::Cast<From, kIsBoolean, uint16_t>, From, uint16_t>();
  of(DType::u32) = cast<narrow::Cast<From, kIsBoolean, uint32_t>, From, uint32_t>();
  of(DType::u64) = cast<narrow::Cast<From, kIsBoolean, uint64_t>, From, uint64_t>();
  of(DType::f32) = cast<narrow::Cast<From, kIsBoolean, float>, From, float>();
  of(DType::f64) = cast<narrow::Cast<From, kIsBoolean, double>, From, double>();
  return all;
}

constexpr std::array<std::array<StepRow, 16>, 16> all_casts() {
  std::array<std::array<StepRow, 16>, 16> all{};
  const auto of = [&](DType dtype) -> auto& { return all[static_cast<size_t>(dtype)]; };
  of(DType::boolean) = casts_to_all<uint8_t, true>();
  of(DType::i8) = casts_to_all<int8_t, false>();
  of(DType::i16) = casts_to_all<int16_t, false>();
  of(DType::i32) = casts_to_all<int32_t, false>();
  of(DType::i64) = casts_to_all<int64_t, false>();
  of(DType::u8) = casts_to_all<uint8_t, false>();
  of(DType::u16) = casts_to_all<uint16_t, false>();
  of(DType::u32) = casts_to_all<uint32_t, false>();
  of(DType::u64) = casts_to_all<uint64_t, false>();
  of(DType::f32) = casts_to_all<float, false>();
  of(DType::f64) = casts_to_all<double, false>();
  return all;
}

}  // namespace

extern const NarrowSteps kNarrowSteps;
const NarrowSteps kNarrowSteps = {
#if HWY_TARGET == HWY_AVX3
    .name = "avx512",
#elif HWY_TARGET == HWY_AVX2
    .name = "avx2",
#else
    .name = "scalar",
#endif
    .table = all_types(),
    .casts = all_casts(),
};

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hoist::graph::program {

std::span<const NarrowSteps* const> runnable_narrow_steps() {
  static const std::vector<const NarrowSteps*> all = [] {
    std::vector<const NarrowSteps*> found;
    const CpuFeatures& cpu = cpu_features();
#if HWY_TARGETS & HWY_AVX3
    if (cpu.avx512 && cpu.bmi2) found.push_back(&N_AVX3::kNarrowSteps);
#endif
#if HWY_TARGETS & HWY_AVX2
    if (cpu.avx2 && cpu.bmi2) found.push_back(&N_AVX2::kNarrowSteps);
#endif
    found.push_back(&HWY_NAMESPACE::kNarrowSteps);
    return found;
  }();
  return all;
}

namespace {
const NarrowSteps& narrow_steps() {
  static const NarrowSteps& widest = *runnable_narrow_steps().front();
  return widest;
}
}  // namespace

Step narrow_step(Op op, DType dtype, unsigned scalars) {
  return narrow_steps().table[static_cast<size_t>(dtype)][static_cast<size_t>(op)][scalars];
}

Step narrow_cast(DType from, DType to, unsigned scalars) {
  return narrow_steps().casts[static_cast<size_t>(from)][static_cast<size_t>(to)][scalars];
}

}  // namespace hoist::graph::program
#endif
