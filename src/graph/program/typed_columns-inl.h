// Reductions of f64 and integers whose elements lie by columns: many rows at a time, as
// column_reductions-inl.h has it for f32. Included once for each instruction set
// (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_TYPED_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_TYPED_COLUMNS_INL_H_
#undef HOIST_GRAPH_PROGRAM_TYPED_COLUMNS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_TYPED_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE::typed {

// Rows that are done at the same time: 64 sums of each stay in the nearest cache.
inline constexpr size_t kRowsAtATime = 32;

// strip(first element, rows, results), rows by rows.
template <class T, class Strip>
HWY_INLINE void by_strips(const void* in, size_t rows, void* to, const Strip& strip) {
  const auto* const a = static_cast<const T*>(in);
  auto* const out = static_cast<T*>(to);
  for (size_t r = 0; r < rows; r += kRowsAtATime) {
    strip(a + r, std::min(kRowsAtATime, rows - r), out + r);
  }
}

// Each row's sum of n >= 1 terms, in the order of sum_of(): 64 sums of a block of 1024 terms, by
// halves; blocks by pairs.
HWY_INLINE void strip_of_sums(const double* a, ptrdiff_t stride, size_t n, size_t rows,
                              double* out) {
  constexpr size_t kSums = 64;
  constexpr size_t kTerms = 1024;
  double sums[kSums][kRowsAtATime];
  double waiting[8 * sizeof(size_t)][kRowsAtATime];
  size_t blocks = 0;
  size_t depth = 0;
  const auto add = [&](const double* HWY_RESTRICT from, double* HWY_RESTRICT sum) {
    for (size_t r = 0; r < rows; ++r) sum[r] = from[r] + sum[r];
  };
  size_t begin = 0;
  do {
    for (auto& sum : sums) std::fill_n(sum, rows, 0.0);
    for (size_t i = begin; i < std::min(n, begin + kTerms); ++i) {
      add(a + static_cast<ptrdiff_t>(i) * stride, sums[(i - begin) % kSums]);
    }
    for (size_t half = kSums / 2; half > 0; half /= 2) {
      for (size_t k = 0; k < half; ++k) add(sums[k + half], sums[k]);
    }
    for (size_t done = ++blocks; done % 2 == 0; done /= 2) add(waiting[--depth], sums[0]);
    std::copy_n(sums[0], rows, waiting[depth++]);
    begin += kTerms;
  } while (begin < n);
  std::copy_n(waiting[--depth], rows, out);
  while (depth > 0) add(waiting[--depth], out);
}

// n >= 1 terms.
inline void column_sums_f64(const void* a, ptrdiff_t stride, size_t n, size_t rows, void* out) {
  by_strips<double>(a, rows, out, [&](const double* from, size_t count, double* to) {
    strip_of_sums(from, stride, n, count, to);
  });
}

template <class T, class F>
void column_folds(const void* a, ptrdiff_t stride, size_t n, size_t rows, void* out) {
  by_strips<T>(a, rows, out, [&](const T* from, size_t count, T* HWY_RESTRICT to) {
    std::copy_n(from, count, to);
    for (size_t i = 1; i < n; ++i) {
      const T* const HWY_RESTRICT at = from + static_cast<ptrdiff_t>(i) * stride;
      for (size_t r = 0; r < count; ++r) to[r] = F::of(to[r], at[r]);
    }
  });
}

}  // namespace hoist::graph::HWY_NAMESPACE::typed
HWY_AFTER_NAMESPACE();
#endif
