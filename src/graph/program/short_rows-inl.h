// Reductions of short rows, and the last steps of long ones, within vectors. Included once for each
// instruction set (hwy/foreach_target.h).
#if defined(HOIST_GRAPH_PROGRAM_SHORT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HOIST_GRAPH_PROGRAM_SHORT_ROWS_INL_H_
#undef HOIST_GRAPH_PROGRAM_SHORT_ROWS_INL_H_
#else
#define HOIST_GRAPH_PROGRAM_SHORT_ROWS_INL_H_
#endif

#include "graph/ops/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hoist::graph::HWY_NAMESPACE {

// Lane k gets lane k + kBy.
template <size_t kBy>
HWY_INLINE V rotated(V v) {
  HWY_ALIGN static constexpr auto kIndices = [] {
    std::array<int32_t, kLanes> indices{};
    for (size_t k = 0; k < kLanes; ++k) indices[k] = static_cast<int32_t>((k + kBy) % kLanes);
    return indices;
  }();
  return hn::TableLookupLanes(v, hn::SetTableIndices(D(), kIndices.data()));
}

// All lanes by halves: each of the first half with its like of the second.
template <size_t kHalf = kLanes / 2, class F>
HWY_INLINE float folded(V v, const F& f) {
  if constexpr (kHalf == 0) {
    return hn::GetLane(v);
  } else {
    return folded<kHalf / 2>(f(v, rotated<kHalf>(v)), f);
  }
}

// The sum of at most 64 numbers as sum() of graph/ops/ops.h has it: 64 columns of one number each,
// by halves.
inline float short_sum(const float* a, size_t n) {
  constexpr size_t kVectors = 64 / kLanes;
  const D d;
  const auto add = [](V x, V y) { return hn::Add(x, y); };
  V columns[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    const size_t at = v * kLanes;
    if (at + kLanes <= n) {
      columns[v] = hn::Add(hn::Zero(d), hn::LoadU(d, a + at));
    } else if (at < n) {
      columns[v] = hn::Add(hn::Zero(d), load_part(d, a + at, part_of(d, n - at)));
    } else {
      columns[v] = hn::Zero(d);
    }
  }
  for (size_t half = kVectors / 2; half > 0; half /= 2) {
    for (size_t v = 0; v < half; ++v) columns[v] = add(columns[v], columns[v + half]);
  }
  return folded(columns[0], add);
}

// n >= 1; `f` gives the same in any order.
template <class F>
HWY_INLINE float extreme_of(const float* a, size_t n) {
  const D d;
  const F f;
  if (n < kLanes) {
    const V first = hn::Set(d, a[0]);
    const V part = load_part(d, a, part_of(d, n));
    return folded(hn::IfThenElse(hn::FirstN(d, n), part, first), f);
  }
  V best = hn::LoadU(d, a);
  V second = best;
  size_t i = kLanes;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    best = f(best, hn::LoadU(d, a + i));
    second = f(second, hn::LoadU(d, a + i + kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) best = f(best, hn::LoadU(d, a + i));
  // The last elements, with others that were seen: that changes nothing.
  return folded(f(f(best, second), hn::LoadU(d, a + n - kLanes)), f);
}

}  // namespace hoist::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
