// Reductions of many rows at the same time whose elements lie by columns: a vector has an element
// of each of so many rows. Included once for each instruction set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_COLUMN_REDUCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_COLUMN_REDUCTIONS_INL_H_
#undef HOIST_GRAPH_PROGRAM_COLUMN_REDUCTIONS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_COLUMN_REDUCTIONS_INL_H_
#endif

#include "graph/ops/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

// One vector of rows; fewer where `kIsPart`. Everything as block_sum() and pairwise_sum() of
// graph/ops/reductions-inl.h have it for one row: 64 columns of 16, by halves, blocks by pairs.
template <bool kIsPart, class P>
HWY_INLINE V vector_of_sums(const float* a, ptrdiff_t stride, size_t n, const P& part) {
  constexpr size_t kColumnsOfBlock = 64;
  constexpr size_t kTerms = 1024;
  const D d;
  const auto load = [&](size_t i) {
    const float* const at = a + static_cast<ptrdiff_t>(i) * stride;
    if constexpr (kIsPart) return load_part(d, at, part);
    return hn::LoadU(d, at);
  };
  V waiting[8 * sizeof(size_t)];
  size_t depth = 0;
  size_t blocks = 0;
  for (size_t begin = 0; begin < n; begin += kTerms) {
    V sums[kColumnsOfBlock];
    const size_t end = HWY_MIN(n, begin + kTerms);
    // Columns beyond the last term are 0, which changes no sum: none of these is -0.
    size_t columns = kColumnsOfBlock;
    while (columns / 2 >= end - begin) columns /= 2;
    for (size_t k = 0; k < columns; ++k) sums[k] = hn::Zero(d);
    for (size_t i = begin; i < end; ++i) {
      V& sum = sums[(i - begin) % kColumnsOfBlock];
      sum = hn::Add(sum, load(i));
    }
    for (size_t half = columns / 2; half > 0; half /= 2) {
      for (size_t k = 0; k < half; ++k) sums[k] = hn::Add(sums[k], sums[k + half]);
    }
    V sum = sums[0];
    for (size_t done = ++blocks; done % 2 == 0; done /= 2) sum = hn::Add(waiting[--depth], sum);
    waiting[depth++] = sum;
  }
  if (depth == 0) return hn::Zero(d);
  V sum = waiting[--depth];
  while (depth > 0) sum = hn::Add(waiting[--depth], sum);
  return sum;
}

// n >= 1
template <bool kIsPart, class F, class P>
HWY_INLINE V vector_of_extremes(const float* a, ptrdiff_t stride, size_t n, const F& f,
                                const P& part) {
  const D d;
  V best = kIsPart ? load_part(d, a, part) : hn::LoadU(d, a);
  for (size_t i = 1; i < n; ++i) {
    const float* const at = a + static_cast<ptrdiff_t>(i) * stride;
    best = f(best, kIsPart ? load_part(d, at, part) : hn::LoadU(d, at));
  }
  return best;
}

// out[r] is that of the elements a[r + i * stride], i < n.
inline void column_sums(const float* a, ptrdiff_t stride, size_t n, size_t rows, float* out) {
  const D d;
  size_t r = 0;
  for (; r + kLanes <= rows; r += kLanes) {
    hn::StoreU(vector_of_sums<false>(a + r, stride, n, 0), d, out + r);
  }
  if (r == rows) return;
  const auto part = part_of(d, rows - r);
  store_part(d, vector_of_sums<true>(a + r, stride, n, part), out + r, part);
}

template <class F>
HWY_INLINE void column_extremes(const float* a, ptrdiff_t stride, size_t n, size_t rows,
                                float* out) {
  const D d;
  size_t r = 0;
  for (; r + kLanes <= rows; r += kLanes) {
    hn::StoreU(vector_of_extremes<false>(a + r, stride, n, F(), part_of(d, 0)), d, out + r);
  }
  if (r == rows) return;
  const auto part = part_of(d, rows - r);
  store_part(d, vector_of_extremes<true>(a + r, stride, n, F(), part), out + r, part);
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
