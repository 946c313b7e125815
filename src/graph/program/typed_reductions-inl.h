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

// As block_sum() of graph/ops/reductions-inl.h: 64 columns of 16, by halves.
template <class T>
HWY_INLINE T sum_of_block(const T* a, size_t n) {
  constexpr size_t kColumns = 64;
  T columns[kColumns] = {};
  size_t i = 0;
  for (; i + kColumns <= n; i += kColumns) {
    for (size_t k = 0; k < kColumns; ++k) columns[k] += a[i + k];
  }
  for (size_t k = 0; i + k < n; ++k) columns[k] += a[i + k];
  for (size_t half = kColumns / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) columns[k] += columns[k + half];
  }
  return columns[0];
}

// Blocks by pairs.
template <class T>
T sum_of(const T* a, size_t n) {
  constexpr size_t kTerms = 1024;
  if (n <= kTerms) return sum_of_block(a, n);
  T waiting[8 * sizeof(size_t)];
  size_t blocks = 0;
  size_t depth = 0;
  for (size_t i = 0; i < n; i += kTerms) {
    T sum = sum_of_block(a + i, std::min(kTerms, n - i));
    for (size_t done = ++blocks; done % 2 == 0; done /= 2) sum = waiting[--depth] + sum;
    waiting[depth++] = sum;
  }
  T sum = waiting[--depth];
  while (depth > 0) sum = waiting[--depth] + sum;
  return sum;
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
  for (; i < n; ++i) best[0] = F::of(best[0], static_cast<T>(a[i]));
  for (size_t k = 1; k < kColumns; ++k) best[0] = F::of(best[0], best[k]);
  return static_cast<Stored>(best[0]);
}

}  // namespace hoist::graph::HWY_NAMESPACE::typed
HWY_AFTER_NAMESPACE();
#endif
