#include "match/score/bounded_edits.h"

#include <algorithm>
#include <cstdlib>

#include "match/score/common_ends.h"

namespace hoist::match {
namespace {

// Rows are positions in a, and a point of diagonal d lies in row i and column i + d.
template <bool kSubstitutes, typename A, typename B>
uint32_t edits_within(std::span<const A> a, std::span<const B> b, uint32_t most) {
  const auto rows = static_cast<int64_t>(a.size());
  const auto columns = static_cast<int64_t>(b.size());
  const int64_t last = columns - rows;
  const auto bound = static_cast<int64_t>(most);
  if (std::abs(last) > bound) return most + 1;
  // The furthest row of each diagonal so far; below the first where none was reached. One more
  // diagonal on both sides is read and never written.
  constexpr int64_t kNowhere = INT64_MIN / 2;
  int64_t storage[2 * kMostBoundedEdits + 3];
  int64_t* const reached = storage + bound + 1;
  std::fill(reached - bound - 1, reached + bound + 2, kNowhere);
  const auto slide = [&](int64_t row, int64_t diagonal) {
    if (row < 0) return row;
    const int64_t left = std::min(rows - row, columns - row - diagonal);
    return row + equal_at_front(a.data() + row, b.data() + row + diagonal, left);
  };
  reached[0] = slide(0, 0);
  for (int64_t edits = 0;; ++edits) {
    if (reached[last] == rows) return static_cast<uint32_t>(edits);
    if (edits == bound) return most + 1;
    const int64_t next = edits + 1;
    const int64_t left = bound - next;
    // Without substitutions an edit goes to another diagonal: every second one has a new point.
    constexpr int64_t kStep = kSubstitutes ? 1 : 2;
    int64_t first = std::max(-next, last - left);
    if (!kSubstitutes && (first + next) % 2 != 0) ++first;
    int64_t before = reached[first - 1];  // with one edit less, as all that is read here
    for (int64_t d = first; d <= std::min(next, last + left); d += kStep) {
      int64_t row = std::max(before, reached[d + 1] + 1);
      if constexpr (kSubstitutes) {
        row = std::max(row, reached[d] + 1);
        before = reached[d];
      } else {
        before = reached[d + 1];
      }
      // A step over the end stays at the end, which a neighbour reaches with as many edits.
      reached[d] = slide(std::min({row, rows, columns - d}), d);
    }
  }
}

}  // namespace

template <typename A, typename B>
uint32_t bounded_levenshtein(std::span<const A> a, std::span<const B> b, uint32_t most) {
  return edits_within<true>(a, b, most);
}

template <typename A, typename B>
uint32_t bounded_indels(std::span<const A> a, std::span<const B> b, uint32_t most) {
  return edits_within<false>(a, b, most);
}

#define HOIST_BOUNDED_EDITS(A, B)                                                                \
  template uint32_t bounded_levenshtein<A, B>(std::span<const A>, std::span<const B>, uint32_t); \
  template uint32_t bounded_indels<A, B>(std::span<const A>, std::span<const B>, uint32_t);
#define HOIST_BOUNDED_EDITS_OF(A)  \
  HOIST_BOUNDED_EDITS(A, uint8_t)  \
  HOIST_BOUNDED_EDITS(A, uint16_t) \
  HOIST_BOUNDED_EDITS(A, uint32_t)
HOIST_BOUNDED_EDITS_OF(uint8_t)
HOIST_BOUNDED_EDITS_OF(uint16_t)
HOIST_BOUNDED_EDITS_OF(uint32_t)

}  // namespace hoist::match
