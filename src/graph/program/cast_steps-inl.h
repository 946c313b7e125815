// Casts, as element_casts.h has them, from each kind of lanes. Included once for each instruction
// set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_CAST_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_CAST_STEPS_INL_H_
#undef HOIST_GRAPH_PROGRAM_CAST_STEPS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_CAST_STEPS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "graph/program/element_casts.h"
#include "graph/program/steps.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

template <class From>
struct ToBoolean {
  using Result = float;
  static HWY_INLINE float of(From x) { return x != 0 ? 1.0f : 0.0f; }
};
template <class From>
struct ToF16 {
  using Result = float;
  static HWY_INLINE float of(From x) { return program::rounded_f16(x); }
};
template <class From>
struct ToBf16 {
  using Result = float;
  static HWY_INLINE float of(From x) { return program::rounded_bf16(x); }
};
template <class From, class To>
struct ToFloat {
  using Result = To;
  static HWY_INLINE To of(From x) { return static_cast<To>(x); }
};
template <class From, class To>
struct ToInteger {
  using Result = int64_t;
  static HWY_INLINE int64_t of(From x) { return static_cast<int64_t>(program::integer_of<To>(x)); }
};

template <class F, class From, bool kIsScalar>
void run_cast(const void* in, const void* /*b*/, const void* /*c*/, void* to, size_t n) {
  const auto* const a = static_cast<const From*>(in);
  auto* const out = static_cast<typename F::Result*>(to);
  if constexpr (kIsScalar) {
    std::fill_n(out, n, n == 0 ? typename F::Result() : F::of(*a));
  } else {
    for (size_t i = 0; i < n; ++i) out[i] = F::of(a[i]);
  }
}

// array/convert.h converts many at a time.
inline void run_f32_as_f16(const void* in, const void* /*b*/, const void* /*c*/, void* to,
                           size_t n) {
  constexpr size_t kMost = 256;
  std::byte halves[2 * kMost];
  for (size_t i = 0; i < n; i += kMost) {
    const size_t count = std::min(kMost, n - i);
    array::convert_from_f32({static_cast<const float*>(in) + i, count}, array::DType::f16, halves);
    array::convert_to_f32(array::DType::f16, halves, {static_cast<float*>(to) + i, count});
  }
}

template <class F, class From>
constexpr std::array<program::Step, 2> both() {
  return {run_cast<F, From, false>, run_cast<F, From, true>};
}

template <class From>
constexpr std::array<std::array<program::Step, 2>, 16> casts_from() {
  using array::DType;
  std::array<std::array<program::Step, 2>, 16> all{};
  const auto at = [&](DType dtype) -> auto& { return all[static_cast<size_t>(dtype)]; };
  at(DType::boolean) = both<ToBoolean<From>, From>();
  at(DType::f16) = both<ToF16<From>, From>();
  if constexpr (std::is_same_v<From, float>) at(DType::f16)[0] = run_f32_as_f16;
  at(DType::bf16) = both<ToBf16<From>, From>();
  at(DType::f32) = both<ToFloat<From, float>, From>();
  at(DType::f64) = both<ToFloat<From, double>, From>();
  at(DType::i8) = both<ToInteger<From, int8_t>, From>();
  at(DType::i16) = both<ToInteger<From, int16_t>, From>();
  at(DType::i32) = both<ToInteger<From, int32_t>, From>();
  at(DType::i64) = both<ToInteger<From, int64_t>, From>();
  at(DType::u8) = both<ToInteger<From, uint8_t>, From>();
  at(DType::u16) = both<ToInteger<From, uint16_t>, From>();
  at(DType::u32) = both<ToInteger<From, uint32_t>, From>();
  at(DType::u64) = both<ToInteger<From, uint64_t>, From>();
  return all;
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
