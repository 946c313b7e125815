#include "match/fuzz/edit_distances.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "match/fuzz/symbol_masks.h"

namespace hoist::match {
namespace {

void skip_equal_ends(Symbols& a, Symbols& b) {
  const uint64_t front = common_prefix(a, b);
  a = a.subspan(front);
  b = b.subspan(front);
  const uint64_t back = common_suffix(a, b);
  a = a.first(a.size() - back);
  b = b.first(b.size() - back);
}

std::vector<uint64_t> first_row(size_t columns, uint64_t cost) {
  std::vector<uint64_t> row(columns + 1);
  for (size_t j = 0; j <= columns; ++j) row[j] = j * cost;
  return row;
}

// A column of the matrix in two words (H. Hyyrö, "A bit-vector algorithm for computing Levenshtein
// and Damerau edit distances", 2003). `a` has 1 to 64 symbols.
uint64_t short_osa_distance(Symbols a, Symbols b) {
  const SymbolMasks masks(a);
  const uint64_t last = uint64_t{1} << (a.size() - 1);
  uint64_t up = ~uint64_t{0};  // where a cell is one more than that above it
  uint64_t down = 0;
  uint64_t diagonal = 0;  // where it is what the one above the left one is
  uint64_t matches_before = 0;
  uint64_t distance = a.size();
  for (const uint32_t symbol : b) {
    const uint64_t matches = masks[symbol];
    const uint64_t swapped = ((~diagonal & matches) << 1) & matches_before;
    diagonal = (((matches & up) + up) ^ up) | matches | down | swapped;
    const uint64_t more = down | ~(diagonal | up);
    const uint64_t less = diagonal & up;
    distance += (more & last) != 0 ? 1 : 0;
    distance -= (less & last) != 0 ? 1 : 0;
    const uint64_t shifted = more << 1 | 1;
    up = less << 1 | ~(diagonal | shifted);
    down = shifted & diagonal;
    matches_before = matches;
  }
  return distance;
}

// Which symbols of a and b are common, each within reach of the other: every symbol of b takes the
// first free one of a. By bits where a is short.
class CommonSymbols {
 public:
  CommonSymbols(Symbols a, Symbols b, size_t reach) {
    if (a.size() <= SymbolMasks::kMost) {
      find_by_bits(a, b, reach);
    } else {
      find(a, b, reach);
    }
  }

  uint64_t count = 0;
  uint64_t moved = 0;  // those whose order differs

 private:
  void find_by_bits(Symbols a, Symbols b, size_t reach) {
    const SymbolMasks masks(a);
    const size_t rows = std::min(b.size(), a.size() + reach);
    uint64_t free = a.size() == 64 ? ~uint64_t{0} : (uint64_t{1} << a.size()) - 1;
    const uint64_t all = free;
    uint32_t of_b[SymbolMasks::kMost];
    for (size_t j = 0; j < rows; ++j) {
      uint64_t window = ~uint64_t{0};
      if (j + reach < 63) window >>= 63 - j - reach;
      if (j > reach) window &= ~uint64_t{0} << (j - reach);
      const uint64_t found = masks[b[j]] & free & window;
      if (found == 0) continue;
      free &= ~(found & (~found + 1));
      of_b[count++] = b[j];
    }
    uint64_t taken = all & ~free;
    for (uint64_t next = 0; next < count; ++next, taken &= taken - 1) {
      if (a[static_cast<size_t>(std::countr_zero(taken))] != of_b[next]) ++moved;
    }
  }

  void find(Symbols a, Symbols b, size_t reach) {
    std::vector<bool> taken(a.size());
    std::vector<uint32_t> of_b;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t end = std::min(a.size(), j + reach + 1);
      for (size_t i = j > reach ? j - reach : 0; i < end; ++i) {
        if (taken[i] || a[i] != b[j]) continue;
        taken[i] = true;
        of_b.push_back(b[j]);
        break;
      }
    }
    for (size_t i = 0; i < a.size(); ++i) {
      if (taken[i] && a[i] != of_b[count++]) ++moved;
    }
  }
};

}  // namespace

uint64_t EditWeights::most(uint64_t m, uint64_t n) const {
  const uint64_t all = m * deletion + n * insertion;
  const uint64_t replaced =
      m >= n ? n * replacement + (m - n) * deletion : m * replacement + (n - m) * insertion;
  return std::min(all, replaced);
}

uint64_t weighted_distance(Symbols a, Symbols b, const EditWeights& weights) {
  skip_equal_ends(a, b);
  std::vector<uint64_t> row = first_row(a.size(), weights.deletion);
  for (const uint32_t symbol : b) {
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

uint64_t osa_distance(Symbols a, Symbols b) {
  skip_equal_ends(a, b);
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return b.size();
  if (a.size() <= SymbolMasks::kMost) return short_osa_distance(a, b);
  std::vector<uint64_t> before(a.size() + 1);
  std::vector<uint64_t> above = first_row(a.size(), 1);
  std::vector<uint64_t> row(a.size() + 1);
  for (size_t i = 1; i <= b.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= a.size(); ++j) {
      const bool same = a[j - 1] == b[i - 1];
      row[j] = std::min({row[j - 1] + 1, above[j] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[j - 1] == b[i - 2] && a[j - 2] == b[i - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above.back();
}

uint64_t damerau_levenshtein_distance(Symbols a, Symbols b) {
  skip_equal_ends(a, b);
  // Three rows and, for each column, what the row above the last row with this column's symbol had
  // (C. Zhao and S. Sahni, "Linear space string correction algorithm using the Damerau-Levenshtein
  // distance", 2020).
  const size_t m = a.size();
  const uint64_t infinite = m + b.size() + 1;
  std::unordered_map<uint32_t, size_t> last_row;
  std::vector<uint64_t> crossed(m + 2, infinite);
  std::vector<uint64_t> before(m + 2, infinite);
  std::vector<uint64_t> above(m + 2, infinite);
  std::vector<uint64_t> row(m + 2, infinite);  // element j + 1 is column j
  std::iota(above.begin() + 1, above.end(), uint64_t{0});
  for (size_t i = 1; i <= b.size(); ++i) {
    size_t last_column = 0;  // with b's symbol
    uint64_t at_last_match = 0;
    row[1] = i;
    for (size_t j = 1; j <= m; ++j) {
      const bool same = a[j - 1] == b[i - 1];
      uint64_t cost = std::min({row[j] + 1, above[j + 1] + 1, above[j] + (same ? 0 : 1)});
      if (same) {
        last_column = j;
        crossed[j + 1] = above[j - 1];
        at_last_match = before[j];
      } else {
        const auto found = last_row.find(a[j - 1]);
        const size_t k = found == last_row.end() ? 0 : found->second;
        if (last_column != 0 && k != 0) {
          if (j - last_column == 1) cost = std::min(cost, crossed[j + 1] + (i - k));
          if (i - k == 1) cost = std::min(cost, at_last_match + (j - last_column));
        }
      }
      row[j + 1] = cost;
    }
    last_row[b[i - 1]] = i;
    before.swap(above);
    above.swap(row);
  }
  return above[m + 1];
}

uint64_t hamming_distance(Symbols a, Symbols b) {
  const size_t common = std::min(a.size(), b.size());
  uint64_t differences = std::max(a.size(), b.size()) - common;
  for (size_t i = 0; i < common; ++i) differences += a[i] != b[i] ? 1 : 0;
  return differences;
}

uint64_t common_prefix(Symbols a, Symbols b) {
  return static_cast<uint64_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                               a.begin());
}

uint64_t common_suffix(Symbols a, Symbols b) {
  return static_cast<uint64_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first -
                               a.rbegin());
}

double jaro_similarity(Symbols a, Symbols b) {
  if (a.empty() && b.empty()) return 1.0;
  if (a.empty() || b.empty()) return 0.0;
  const size_t longest = std::max(a.size(), b.size());
  const size_t reach = longest / 2 > 1 ? longest / 2 - 1 : 0;
  const CommonSymbols found(a, b, reach);
  if (found.count == 0) return 0.0;
  const auto common = static_cast<double>(found.count);
  double sum = common / static_cast<double>(a.size());
  sum += common / static_cast<double>(b.size());
  sum += (common - static_cast<double>(found.moved / 2)) / common;
  return sum / 3.0;
}

double jaro_winkler_similarity(Symbols a, Symbols b, double prefix_weight) {
  const double jaro = jaro_similarity(a, b);
  if (jaro <= 0.7) return jaro;
  constexpr uint64_t kMostPrefix = 4;
  const auto prefix = static_cast<double>(std::min(common_prefix(a, b), kMostPrefix));
  return std::min(1.0, jaro + prefix * prefix_weight * (1.0 - jaro));
}

}  // namespace hoist::match
