// Sums and extremes of f64 and of integers. Included once for each instruction set
// (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_TYPED_REDUCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_TYPED_REDUCTIONS_INL_H_
#undef HOIST_GRAPH_PROGRAM_TYPED_REDUCTIONS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_TYPED_REDUCTIONS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "graph/program/typed_steps.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE::typed {

struct Added {
  static constexpr int kNone = 0;
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return a + b;
  }
};
struct Multiplied {
  static constexpr int kNone = 1;
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return a * b;
  }
};

// As block_sum() of graph/ops/reductions-inl.h: 64 columns of 16, by halves.
template <class T, class F>
HWY_INLINE T reduced_block(const T* a, size_t n) {
  constexpr size_t kColumns = 64;
  T columns[kColumns];
  std::fill_n(columns, kColumns, T{F::kNone});
  size_t i = 0;
  for (; i + kColumns <= n; i += kColumns) {
    for (size_t k = 0; k < kColumns; ++k) columns[k] = F::of(columns[k], a[i + k]);
  }
  for (size_t k = 0; i + k < n; ++k) columns[k] = F::of(columns[k], a[i + k]);
  for (size_t half = kColumns / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) columns[k] = F::of(columns[k], columns[k + half]);
  }
  return columns[0];
}

// Blocks by pairs.
template <class T, class F>
T reduced(const T* a, size_t n) {
  constexpr size_t kTerms = 1024;
  if (n <= kTerms) return reduced_block<T, F>(a, n);
  T waiting[8 * sizeof(size_t)];
  size_t blocks = 0;
  size_t depth = 0;
  for (size_t i = 0; i < n; i += kTerms) {
    T part = reduced_block<T, F>(a + i, std::min(kTerms, n - i));
    for (size_t done = ++blocks; done % 2 == 0; done /= 2) part = F::of(waiting[--depth], part);
    waiting[depth++] = part;
  }
  T result = waiting[--depth];
  while (depth > 0) result = F::of(waiting[--depth], result);
  return result;
}

inline int64_t sum_of_integers(const int64_t* a, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<uint64_t>(a[i]);
  return static_cast<int64_t>(sum);
}

// As Stored in memory; n >= 1.
template <class F, class T, class Stored>
Stored extreme(const Stored* a, size_t n) {
  constexpr size_t kColumns = 32;
  T best[kColumns];
  std::fill_n(best, kColumns, static_cast<T>(a[0]));
  size_t i = 0;
  for (; i + kColumns <= n; i += kColumns) {
    for (size_t k = 0; k < kColumns; ++k) best[k] = F::of(best[k], static_cast<T>(a[i + k]));
  }
  for (size_t k = 0; i + k < n; ++k) best[k] = F::of(best[k], static_cast<T>(a[i + k]));
  for (size_t half = kColumns / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) best[k] = F::of(best[k], best[k + half]);
  }
  return static_cast<Stored>(best[0]);
}

// The first place of what is equal to `value`, or n. NaN is equal to NaN.
template <class T>
size_t find(const T* a, size_t n, T value) {
  constexpr size_t kAtATime = 64;
  const bool is_nan = value != value;
  const auto is_it = [&](T x) { return (x == value) | (is_nan & (x != x)); };
  size_t i = 0;
  for (; i + kAtATime <= n; i += kAtATime) {
    unsigned found = 0;
    for (size_t k = 0; k < kAtATime; ++k) found |= is_it(a[i + k]) ? 1u : 0u;
    if (found != 0) break;
  }
  while (i < n && !is_it(a[i])) ++i;
  return i;
}

}  // namespace hoist::graph::HWY_NAMESPACE::typed
HWY_AFTER_NAMESPACE();
#endif
