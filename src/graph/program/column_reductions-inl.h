// Reductions of many rows at the same time whose elements lie by columns: a vector has an element
// of each of so many rows. Included once for each instruction set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_COLUMN_REDUCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_COLUMN_REDUCTIONS_INL_H_
#undef HOIST_GRAPH_PROGRAM_COLUMN_REDUCTIONS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_COLUMN_REDUCTIONS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "graph/ops/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

// Rows are done so many at a time: a page of memory has 1 KiB of a term, one piece behind the
// other, and sums that wait for others stay in the nearest cache.
inline constexpr size_t kStrip = 256;
inline constexpr size_t kColumnsOfBlock = 64;
inline constexpr size_t kTermsOfBlock = 1024;
inline constexpr size_t kMostBlocks = 40;  // of 2, 4, 8, … that wait
using Strip = float[kStrip];

// What is added to sums of rows: terms `stride` apart, then other sums.
struct Terms {
  const float* first;
  ptrdiff_t stride;
  size_t count;
  const float* before;  // the sums so far; null: 0
  const float* others[8];
  size_t other_count;
};

template <size_t kCount>
HWY_INLINE void add_so_many(const Terms& terms, size_t rows, float* to) {
  const D d;
  const auto sum_at = [&](V sum, size_t r, const auto& load) {
    const float* at = terms.first + r;
    for (size_t i = 0; i < kCount; ++i, at += terms.stride) sum = hn::Add(sum, load(at));
    for (size_t i = 0; i < terms.other_count; ++i) {
      sum = hn::Add(hn::LoadU(d, terms.others[i] + r), sum);
    }
    return sum;
  };
  size_t r = 0;
  for (; r + kLanes <= rows; r += kLanes) {
    const V before = terms.before == nullptr ? hn::Zero(d) : hn::LoadU(d, terms.before + r);
    hn::StoreU(sum_at(before, r, [&](const float* at) { return hn::LoadU(d, at); }), d, to + r);
  }
  if (r == rows) return;
  const auto part = part_of(d, rows - r);
  const V before = terms.before == nullptr ? hn::Zero(d) : hn::LoadU(d, terms.before + r);
  store_part(d, sum_at(before, r, [&](const float* at) { return load_part(d, at, part); }), to + r,
             part);
}

// Few terms at a time: of more, as far apart, some lines would take each other's place in caches.
inline constexpr size_t kTermsAtATime = 4;

HWY_INLINE void add_terms(const Terms& terms, size_t rows, float* to) {
  switch (terms.count) {
    case 1:
      return add_so_many<1>(terms, rows, to);
    case 2:
      return add_so_many<2>(terms, rows, to);
    case 3:
      return add_so_many<3>(terms, rows, to);
    default:
      return add_so_many<kTermsAtATime>(terms, rows, to);
  }
}

// The terms k, k + 64, … of a block, from +0 on, and the other sums at last.
HWY_INLINE void sum_of_column(const float* a, ptrdiff_t stride, size_t k, size_t end, Terms others,
                              size_t rows, float* sums, float* to) {
  const size_t merged = others.other_count;
  others.stride = stride * static_cast<ptrdiff_t>(kColumnsOfBlock);
  others.before = nullptr;
  for (size_t i = k; i < end; i += kTermsAtATime * kColumnsOfBlock) {
    others.first = a + static_cast<ptrdiff_t>(i) * stride;
    others.count = HWY_MIN(kTermsAtATime, (end - i + kColumnsOfBlock - 1) / kColumnsOfBlock);
    const bool is_last = i + kTermsAtATime * kColumnsOfBlock >= end;
    others.other_count = is_last ? merged : 0;
    add_terms(others, rows, is_last ? to : sums);
    others.before = sums;
  }
}

HWY_INLINE size_t reversed(size_t number, size_t end) {
  size_t result = 0;
  for (; end > 1; end /= 2, number /= 2) result = result * 2 + number % 2;
  return result;
}

// A block of at most 1024 terms, for at most kStrip rows, as block_sum() of
// graph/ops/reductions-inl.h has it for one row: 64 columns of 16 terms, which are added by halves.
// Columns come in pairs that are half of all apart, in such an order that a sum waits only for its
// like.
inline void block_of_sums(const float* a, ptrdiff_t stride, size_t terms, size_t rows, float* out) {
  HWY_ALIGN Strip waiting[8];
  // Columns beyond the last term are 0, which changes no sum: none of these is -0.
  size_t columns = kColumnsOfBlock;
  while (columns / 2 >= terms) columns /= 2;
  const size_t half = columns / 2;
  const size_t pairs = HWY_MAX(half, 1);
  size_t depth = 0;
  for (size_t t = 0; t < pairs; ++t) {
    const size_t k = reversed(t, pairs);
    const bool is_pair = half != 0 && k + half < terms;
    Terms others{};
    if (is_pair) {
      sum_of_column(a, stride, k, terms, others, rows, waiting[depth], waiting[depth]);
      others.others[others.other_count++] = waiting[depth];
    }
    size_t merged = 0;
    for (size_t done = t + 1; done % 2 == 0; done /= 2) {
      others.others[others.other_count++] = waiting[depth - ++merged];
    }
    float* const to = t + 1 == pairs ? out : waiting[depth - merged];
    sum_of_column(a, stride, is_pair ? k + half : k, terms, others, rows, waiting[depth + 1], to);
    depth += 1 - merged;
  }
}

// The sum of columns k, k + kStep, … of kColumns that have one term each, by halves.
template <size_t kColumns, size_t kStep, class Load>
HWY_INLINE V sum_of_halves(size_t k, size_t terms, const Load& load) {
  if constexpr (kStep == kColumns) {
    return hn::Add(hn::Zero(D()), load(k));
  } else {
    const V first = sum_of_halves<kColumns, kStep * 2>(k, terms, load);
    if (k + kStep >= terms) return first;
    return hn::Add(first, sum_of_halves<kColumns, kStep * 2>(k + kStep, terms, load));
  }
}

// As block_of_sums(), of more than kColumns / 2 terms and at most kColumns, all at a time.
template <size_t kColumns>
HWY_INLINE void sums_of_few(const float* a, ptrdiff_t stride, size_t terms, size_t rows,
                            float* out) {
  const D d;
  const auto at = [&](size_t r, size_t i) { return a + r + static_cast<ptrdiff_t>(i) * stride; };
  size_t r = 0;
  for (; r + kLanes <= rows; r += kLanes) {
    const auto load = [&](size_t i) { return hn::LoadU(d, at(r, i)); };
    hn::StoreU(sum_of_halves<kColumns, 1>(0, terms, load), d, out + r);
  }
  if (r == rows) return;
  const auto part = part_of(d, rows - r);
  const auto load = [&](size_t i) { return load_part(d, at(r, i), part); };
  store_part(d, sum_of_halves<kColumns, 1>(0, terms, load), out + r, part);
}

// Blocks by pairs, as pairwise_sum() has them.
inline void strip_of_sums(const float* a, ptrdiff_t stride, size_t n, size_t rows, float* out) {
  if (n <= 2) return sums_of_few<2>(a, stride, n, rows, out);
  if (n <= 4) return sums_of_few<4>(a, stride, n, rows, out);
  if (n <= 8) return sums_of_few<8>(a, stride, n, rows, out);
  if (n <= 16) return sums_of_few<16>(a, stride, n, rows, out);
  if (n <= kTermsOfBlock) return block_of_sums(a, stride, n, rows, out);
  HWY_ALIGN Strip waiting[kMostBlocks];
  const auto merge = [rows](const float* first, const float* second, float* to) {
    for (size_t r = 0; r < rows; ++r) to[r] = first[r] + second[r];
  };
  size_t depth = 0;
  size_t blocks = 0;
  for (size_t begin = 0; begin < n; begin += kTermsOfBlock) {
    const float* const from = a + static_cast<ptrdiff_t>(begin) * stride;
    block_of_sums(from, stride, HWY_MIN(kTermsOfBlock, n - begin), rows, waiting[depth++]);
    for (size_t done = ++blocks; done % 2 == 0; done /= 2, --depth) {
      merge(waiting[depth - 2], waiting[depth - 1], waiting[depth - 2]);
    }
  }
  for (; depth > 1; --depth) merge(waiting[depth - 2], waiting[depth - 1], waiting[depth - 2]);
  std::memcpy(out, waiting[0], rows * sizeof(float));
}

// out[r] is that of the elements a[r + i * stride], i < n.
inline void column_sums(const float* a, ptrdiff_t stride, size_t n, size_t rows, float* out) {
  for (size_t r = 0; n != 0 && r < rows; r += kStrip) {
    strip_of_sums(a + r, stride, n, HWY_MIN(kStrip, rows - r), out + r);
  }
  if (n == 0) std::fill(out, out + rows, 0.0f);
}

// n >= 1. `f` gives the same in any order.
template <class F, class Load>
HWY_INLINE V extreme_of_column(size_t n, const Load& load) {
  const F f;
  V best = load(0);
  for (size_t i = 1; i < n; ++i) best = f(best, load(i));
  return best;
}

template <class F>
HWY_INLINE void column_extremes(const float* a, ptrdiff_t stride, size_t n, size_t rows,
                                float* out) {
  constexpr size_t kTerms = 16;
  const D d;
  const F f;
  for (size_t begin = 0; begin < n; begin += kTerms) {
    const size_t terms = HWY_MIN(kTerms, n - begin);
    const float* const terms_at = a + static_cast<ptrdiff_t>(begin) * stride;
    size_t r = 0;
    for (; r + kLanes <= rows; r += kLanes) {
      const V best = extreme_of_column<F>(terms, [&](size_t i) {
        return hn::LoadU(d, terms_at + r + static_cast<ptrdiff_t>(i) * stride);
      });
      hn::StoreU(begin == 0 ? best : f(hn::LoadU(d, out + r), best), d, out + r);
    }
    if (r == rows) continue;
    const auto part = part_of(d, rows - r);
    const V best = extreme_of_column<F>(terms, [&](size_t i) {
      return load_part(d, terms_at + r + static_cast<ptrdiff_t>(i) * stride, part);
    });
    store_part(d, begin == 0 ? best : f(load_part(d, out + r, part), best), out + r, part);
  }
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
