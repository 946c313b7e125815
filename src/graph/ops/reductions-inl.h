// Reductions. Included once for each instruction set (hwy/foreach_target.h).
//
// Sums are the same numbers for every instruction set: a block of 1024 terms is summed in 64
// columns of 16 rows, the columns then by halves, and the blocks' sums by pairs, as a tree (N. J.
// Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). A short block lacks rows,
// and its last row is filled with zeros.
#if defined(HOIST_GRAPH_REDUCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_REDUCTIONS_INL_H_
#undef HOIST_GRAPH_REDUCTIONS_INL_H_
#else
#define HOIST_GRAPH_REDUCTIONS_INL_H_
#endif

#include "graph/ops/elementwise-inl.h"
#include "graph/ops/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

inline constexpr size_t kColumns = 64;
inline constexpr size_t kBlock = 16 * kColumns;

// What is summed: single values, products, or the losses' terms.
struct Value {
  static constexpr bool kPairs = false;
  HWY_INLINE V operator()(V a, V) const { return a; }
};
struct Product {
  static constexpr bool kPairs = true;
  HWY_INLINE V operator()(V a, V b) const { return hn::Mul(a, b); }
};
struct Square {
  static constexpr bool kPairs = true;
  HWY_INLINE V operator()(V p, V t) const {
    const V difference = hn::Sub(p, t);
    return hn::Mul(difference, difference);
  }
};
struct CrossEntropy {
  static constexpr bool kPairs = true;
  HWY_INLINE V operator()(V p, V t) const { return hn::Mul(t, log(p)); }
};
struct BinaryCrossEntropy {
  static constexpr bool kPairs = true;
  HWY_INLINE V operator()(V p, V t) const {
    const V one = number(1.0f);
    return hn::Add(hn::Mul(t, log(p)), hn::Mul(hn::Sub(one, t), log(hn::Sub(one, p))));
  }
};

// The sum of at most kBlock terms.
template <class Term>
HWY_INLINE float block_sum(const float* a, const float* b, size_t n, const Term& term) {
  const D d;
  constexpr size_t kVectors = kColumns / kLanes;
  HWY_ALIGN float columns[kColumns];
  V sums[kVectors];
  for (size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  size_t i = 0;
  for (; i + kColumns <= n; i += kColumns) {
#pragma GCC unroll 64
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t at = i + v * kLanes;
      const V from_b = Term::kPairs ? hn::LoadU(d, b + at) : hn::Zero(d);
      sums[v] = hn::Add(sums[v], term(hn::LoadU(d, a + at), from_b));
    }
  }
  for (size_t v = 0; i < n; i += kLanes, ++v) {
    if (n - i < kLanes) {
      const auto part = part_of(d, n - i);
      const V from_b = Term::kPairs ? load_part(d, b + i, part) : hn::Zero(d);
      // What is filled up need not be 0 as a term: 0 ln 0 is NaN.
      const V value = term(load_part(d, a + i, part), from_b);
      sums[v] = hn::Add(sums[v], hn::IfThenElseZero(hn::FirstN(d, part.count), value));
      break;
    }
    const V from_b = Term::kPairs ? hn::LoadU(d, b + i) : hn::Zero(d);
    sums[v] = hn::Add(sums[v], term(hn::LoadU(d, a + i), from_b));
  }
  for (size_t v = 0; v < kVectors; ++v) hn::Store(sums[v], d, columns + v * kLanes);
  for (size_t half = kColumns / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) columns[k] += columns[k + half];
  }
  return columns[0];
}

template <class Term>
HWY_INLINE float pairwise_sum(const float* a, const float* b, size_t n, const Term& term) {
  if (n <= kBlock) return n == 0 ? 0.0f : block_sum(a, b, n, term);
  // Sums of 1, 2, 4, … blocks that wait for their like, as the binary digits of the blocks done.
  float waiting[8 * sizeof(size_t)];
  size_t blocks = 0;
  size_t depth = 0;
  for (size_t i = 0; i < n; i += kBlock) {
    float sum = block_sum(a + i, Term::kPairs ? b + i : nullptr, HWY_MIN(kBlock, n - i), term);
    for (size_t done = ++blocks; done % 2 == 0; done /= 2) sum = waiting[--depth] + sum;
    waiting[depth++] = sum;
  }
  float sum = waiting[--depth];
  while (depth > 0) sum = waiting[--depth] + sum;
  return sum;
}

template <class F>
HWY_INLINE float extreme(const float* a, size_t n, const F& f) {
  const D d;
  float result = a[0];
  size_t i = 0;
  if (n >= 4 * kLanes) {
    V best[4];
    for (size_t v = 0; v < 4; ++v) best[v] = hn::LoadU(d, a + v * kLanes);
    for (i = 4 * kLanes; i + 4 * kLanes <= n; i += 4 * kLanes) {
      for (size_t v = 0; v < 4; ++v) best[v] = f(best[v], hn::LoadU(d, a + i + v * kLanes));
    }
    for (; i + kLanes <= n; i += kLanes) best[0] = f(best[0], hn::LoadU(d, a + i));
    // The last elements, with others that were seen: that changes nothing.
    if (i < n) best[0] = f(best[0], hn::LoadU(d, a + n - kLanes));
    HWY_ALIGN float values[kLanes];
    hn::Store(f(f(best[0], best[1]), f(best[2], best[3])), d, values);
    result = values[0];
    for (size_t k = 1; k < kLanes; ++k) result = f.of_two(result, values[k]);
    return result;
  }
  for (i = 1; i < n; ++i) result = f.of_two(result, a[i]);
  return result;
}

// The largest of numbers. Among NaNs any result: a softmax of these is NaN anyway.
struct AnyMaximum {
  HWY_INLINE V operator()(V a, V b) const { return hn::Max(a, b); }
  HWY_INLINE float of_two(float a, float b) const { return a > b ? a : b; }
};

// exp(x - largest) / sum of these; no element of `a` is read after its result was written.
HWY_INLINE void softmax(const float* a, float* c, size_t n) {
  if (n == 0) return;
  const float largest = extreme(a, n, AnyMaximum());
  map(a, c, n, ExpAbove{number(largest)});
  const float sum = pairwise_sum(c, nullptr, n, Value());
  map(c, c, n, Times{number(1.0f / sum)});
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
