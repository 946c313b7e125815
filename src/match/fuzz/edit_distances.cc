#include "match/fuzz/edit_distances.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "match/fuzz/fuzz_scorer.h"
#include "match/fuzz/masked_counts.h"
#include "match/fuzz/place_counts.h"
#include "match/pairs/byte_symbols.h"
#include "match/pairs/one_pair.h"
#include "match/pairs/symbol_numbers.h"

namespace hoist::match {
namespace {

// work(x, y), the spans of both.
template <typename Work>
auto with_both(const Sequence& a, const Sequence& b, const Work& work) {
  return with_symbols(
      a, [&](const auto x) { return with_symbols(b, [&](const auto y) { return work(x, y); }); });
}

void skip_equal_ends(Sequence& a, Sequence& b) {
  const auto front = static_cast<uint32_t>(common_prefix(a, b));
  a = part_of(a, front, a.length - front);
  b = part_of(b, front, b.length - front);
  const auto back = static_cast<uint32_t>(common_suffix(a, b));
  a.length -= back;
  b.length -= back;
}

// work(masks of a): those of the last call's memory, unless there are many.
template <typename Work>
auto with_masks(const Sequence& a, const Work& work) {
  constexpr uint32_t kMostKept = 4096;
  if (a.length > kMostKept) {
    std::vector<uint32_t> room;
    return work(QueryMasks(wide_symbols(a, room)));
  }
  thread_local std::vector<uint32_t> room;
  thread_local QueryMasks masks;
  masks.set(wide_symbols(a, room));
  return work(masks);
}

CommonSymbols common_symbols(const Sequence& a, const Sequence& b) {
  if (a.length <= 64 && ByteSymbols::takes(a, b)) {
    const ByteSymbols bytes(a, b);
    return common_symbols(ThreadMasks(bytes.first(), 1), bytes.second());
  }
  return with_masks(a, [&](const QueryMasks& masks) { return common_symbols(masks, b); });
}

template <typename A, typename B>
uint64_t weighted_matrix(std::span<const A> a, std::span<const B> b, const EditWeights& weights) {
  std::vector<uint64_t> row(a.size() + 1);
  for (size_t j = 0; j <= a.size(); ++j) row[j] = j * weights.deletion;
  for (const B symbol : b) {
    uint64_t diagonal = row[0];
    row[0] += weights.insertion;
    for (size_t j = 1; j <= a.size(); ++j) {
      const uint64_t above = row[j];
      row[j] = a[j - 1] == symbol
                   ? diagonal
                   : std::min({row[j - 1] + weights.deletion, above + weights.insertion,
                               diagonal + weights.replacement});
      diagonal = above;
    }
  }
  return row.back();
}

// Three rows and, for each column, what the row above the last row with this column's symbol had
// (C. Zhao and S. Sahni, "Linear space string correction algorithm using the Damerau-Levenshtein
// distance", 2020). Symbols are below `distinct`; Cell holds more than both lengths.
template <typename Cell, typename Symbol>
uint64_t transposing_matrix(std::span<const Symbol> a, std::span<const Symbol> b, size_t distinct) {
  const size_t m = a.size();
  const auto infinite = static_cast<Cell>(std::max(m, b.size()) + 1);
  std::vector<Cell> room(4 * (m + 2), infinite);
  Cell* const crossed = room.data();
  Cell* before = crossed + m + 2;
  Cell* above = before + m + 2;
  Cell* row = above + m + 2;  // element j + 1 is column j
  std::vector<Cell> last_row(distinct, -1);
  std::iota(above + 1, above + m + 2, Cell{0});
  for (size_t i = 1; i <= b.size(); ++i) {
    const Symbol symbol = b[i - 1];
    const auto line = static_cast<Cell>(i);
    Cell last_column = -1;  // with b's symbol
    Cell at_last_match = 0;
    row[1] = line;
    Cell left = line;
    for (size_t j = 1; j <= m; ++j) {
      const bool same = a[j - 1] == symbol;
      Cell cost = std::min<Cell>(std::min(left, above[j + 1]) + 1,
                                 static_cast<Cell>(above[j] + (same ? 0 : 1)));
      if (same) {
        last_column = static_cast<Cell>(j);
        crossed[j + 1] = above[j - 1];
        at_last_match = before[j];
      } else {
        const Cell k = last_row[a[j - 1]];
        const auto column = static_cast<Cell>(j);
        if (last_column == column - 1) {
          if (k >= 0) cost = std::min<Cell>(cost, crossed[j + 1] + (line - k));
        } else if (k == line - 1 && last_column >= 0) {
          cost = std::min<Cell>(cost, at_last_match + (column - last_column));
        }
      }
      row[j + 1] = left = cost;
    }
    last_row[symbol] = line;
    std::swap(before, above);
    std::swap(above, row);
  }
  return static_cast<uint64_t>(above[m + 1]);
}

}  // namespace

uint64_t EditWeights::most(uint64_t m, uint64_t n) const {
  const uint64_t all = m * deletion + n * insertion;
  const uint64_t replaced =
      m >= n ? n * replacement + (m - n) * deletion : m * replacement + (n - m) * insertion;
  return std::min(all, replaced);
}

uint64_t weighted_distance(const Sequence& a, const Sequence& b, const EditWeights& weights) {
  if (weights.are_of_one_cost()) {
    const PairCount count = weights.are_indels() ? PairCount::lcs : PairCount::levenshtein;
    return weights.insertion == 0 ? 0 : weights.insertion * pair_edits(count, a, b);
  }
  Sequence x = a;
  Sequence y = b;
  skip_equal_ends(x, y);
  return with_both(x, y,
                   [&](const auto p, const auto q) { return weighted_matrix(p, q, weights); });
}

uint64_t osa_distance(const Sequence& a, const Sequence& b) {
  Sequence x = a;
  Sequence y = b;
  skip_equal_ends(x, y);
  if (x.length > y.length) std::swap(x, y);
  if (x.length == 0) return y.length;
  if (x.length > 64 || !ByteSymbols::takes(x, y)) {
    return with_masks(x, [&](const QueryMasks& masks) { return osa_distance(masks, y); });
  }
  const ByteSymbols bytes(x, y);
  return osa_distance(ThreadMasks(bytes.first(), 1), bytes.second());
}

uint64_t damerau_levenshtein_distance(const Sequence& a, const Sequence& b) {
  Sequence x = a;
  Sequence y = b;
  skip_equal_ends(x, y);
  if (x.length == 0 || y.length == 0) return std::max(x.length, y.length);
  const size_t longest = std::max(x.length, y.length);
  if (ByteSymbols::takes(x, y)) {
    const ByteSymbols bytes(x, y);
    if (longest < INT16_MAX / 2) {
      return transposing_matrix<int16_t>(bytes.first(), bytes.second(), 256);
    }
    return transposing_matrix<int64_t>(bytes.first(), bytes.second(), 256);
  }
  SymbolNumbers numbers;
  std::vector<uint32_t> of_x(x.length);
  std::vector<uint32_t> of_y(y.length);
  numbers.add(x, of_x.data());
  numbers.add(y, of_y.data());
  return transposing_matrix<int64_t, uint32_t>(of_x, of_y, numbers.size());
}

double jaro_similarity(const Sequence& a, const Sequence& b) {
  if (a.length == 0 && b.length == 0) return 1.0;
  if (a.length == 0 || b.length == 0) return 0.0;
  return jaro_of(common_symbols(a, b), a.length, b.length);
}

double jaro_winkler_similarity(const Sequence& a, const Sequence& b, double prefix_weight) {
  const double jaro = jaro_similarity(a, b);
  if (jaro <= kLeastForPrefix) return jaro;
  return with_prefix(jaro, common_prefix(a, b), prefix_weight);
}

double with_prefix(double jaro, uint64_t prefix, double prefix_weight) {
  const auto counted = static_cast<double>(counted_prefix(prefix));
  return std::min(1.0, jaro + counted * prefix_weight * (1.0 - jaro));
}

}  // namespace hoist::match
