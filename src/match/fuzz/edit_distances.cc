#include "match/fuzz/edit_distances.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "match/fuzz/block_masks.h"
#include "match/pairs/byte_symbols.h"
#include "match/pairs/one_pair.h"
#include "match/score/common_ends.h"

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

// A column of the matrix in words of 64 rows (H. Hyyrö, "A bit-vector algorithm for computing
// Levenshtein and Damerau edit distances", 2003).
struct OsaRows {
  uint64_t up = ~uint64_t{0};  // where a cell is one more than that above it
  uint64_t down = 0;
  uint64_t diagonal = 0;  // where it is what the one above the left one is
  uint64_t matches = 0;   // of the column before
};
// What goes from a word to the one below.
struct OsaCarry {
  uint64_t up = 1;
  uint64_t down = 0;
  uint64_t swapped = 0;
};

void step(OsaRows& rows, uint64_t mask, OsaCarry& carry) {
  const uint64_t open = ~rows.diagonal & mask;
  const uint64_t swapped = (open << 1 | carry.swapped) & rows.matches;
  const uint64_t matches = mask | carry.down;
  rows.diagonal = (((matches & rows.up) + rows.up) ^ rows.up) | matches | rows.down | swapped;
  const uint64_t more = rows.down | ~(rows.diagonal | rows.up);
  const uint64_t less = rows.diagonal & rows.up;
  const uint64_t shifted_more = more << 1 | carry.up;
  const uint64_t shifted_less = less << 1 | carry.down;
  rows.up = shifted_less | ~(rows.diagonal | shifted_more);
  rows.down = shifted_more & rows.diagonal;
  rows.matches = mask;
  carry = {more >> 63, less >> 63, open >> 63};
}

uint64_t mask_of(size_t rows) { return rows < 64 ? (uint64_t{1} << rows) - 1 : ~uint64_t{0}; }

uint64_t short_osa_distance(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  const ThreadMasks masks(a, 1);
  OsaRows rows;
  for (const uint8_t symbol : b) {
    OsaCarry carry;
    step(rows, *masks.of(symbol), carry);
  }
  const uint64_t all = mask_of(a.size());
  return b.size() + static_cast<uint64_t>(std::popcount(rows.up & all)) -
         static_cast<uint64_t>(std::popcount(rows.down & all));
}

uint64_t long_osa_distance(const Sequence& a, const Sequence& b) {
  const BlockMasks masks(a, b);
  std::vector<OsaRows> words(masks.words());
  for (size_t column = 0; column < masks.columns(); ++column) {
    const uint64_t* const mask = masks.of_column(column);
    OsaCarry carry;
    for (size_t word = 0; word < words.size(); ++word) step(words[word], mask[word], carry);
  }
  uint64_t distance = b.length;
  for (size_t word = 0; word < words.size(); ++word) {
    const uint64_t all = mask_of(a.length - 64 * word);
    distance += static_cast<uint64_t>(std::popcount(words[word].up & all));
    distance -= static_cast<uint64_t>(std::popcount(words[word].down & all));
  }
  return distance;
}

// Symbols of a and b that are common, each within reach of the other: every symbol of b takes the
// first free one of a.
struct CommonSymbols {
  uint64_t count = 0;
  uint64_t moved = 0;  // those whose order differs
};

CommonSymbols common_of_short(std::span<const uint8_t> a, std::span<const uint8_t> b,
                              size_t reach) {
  const ThreadMasks masks(a, 1);
  const size_t rows = std::min(b.size(), a.size() + reach);
  const uint64_t all = mask_of(a.size());
  uint64_t free = all;
  uint8_t of_b[65];  // the last one is written and not read
  CommonSymbols common;
  for (size_t j = 0; j < rows; ++j) {
    uint64_t window = j + reach < 63 ? ~uint64_t{0} >> (63 - j - reach) : ~uint64_t{0};
    if (j > reach) window &= ~uint64_t{0} << (j - reach);
    const uint64_t found = *masks.of(b[j]) & free & window;
    of_b[common.count] = b[j];
    common.count += found != 0 ? 1 : 0;
    free &= ~(found & (~found + 1));
  }
  uint64_t taken = all & ~free;
  for (uint64_t next = 0; next < common.count; ++next, taken &= taken - 1) {
    common.moved += a[static_cast<size_t>(std::countr_zero(taken))] != of_b[next] ? 1 : 0;
  }
  return common;
}

// The columns of the symbols of b that took one, and which of a are free.
CommonSymbols common_of_long(const Sequence& a, const Sequence& b, size_t reach) {
  const BlockMasks masks(a, b);
  std::vector<uint64_t> free(masks.words(), ~uint64_t{0});
  free.back() = mask_of(a.length - 64 * (masks.words() - 1));
  std::vector<size_t> columns;
  const size_t last_row = a.length - 1;
  for (size_t j = 0; j < b.length; ++j) {
    const size_t first = j > reach ? j - reach : 0;
    const size_t last = std::min(last_row, j + reach);
    if (first > last_row) break;
    const uint64_t* const mask = masks.of_column(j);
    for (size_t word = first / 64; word <= last / 64; ++word) {
      uint64_t found = mask[word] & free[word];
      if (word == first / 64) found &= ~uint64_t{0} << first % 64;
      if (word == last / 64) found &= mask_of(last % 64 + 1);
      if (found == 0) continue;
      free[word] &= ~(found & (~found + 1));
      columns.push_back(j);
      break;
    }
  }
  CommonSymbols common;
  common.count = columns.size();
  with_both(a, b, [&](const auto x, const auto y) {
    size_t next = 0;
    for (size_t word = 0; word < free.size(); ++word) {
      uint64_t taken = ~free[word] & mask_of(a.length - 64 * word);
      for (; taken != 0; taken &= taken - 1) {
        const size_t row = 64 * word + static_cast<size_t>(std::countr_zero(taken));
        common.moved += x[row] != y[columns[next++]] ? 1 : 0;
      }
    }
  });
  return common;
}

CommonSymbols common_symbols(const Sequence& a, const Sequence& b, size_t reach) {
  if (a.length > 64 || !ByteSymbols::takes(a, b)) return common_of_long(a, b, reach);
  const ByteSymbols bytes(a, b);
  return common_of_short(bytes.first(), bytes.second(), reach);
}

// Bytes of eight that are not equal, without an instruction that not every processor has.
uint64_t different_bytes(uint64_t a, uint64_t b) {
  constexpr uint64_t kLow = 0x7F7F7F7F7F7F7F7Fu;
  const uint64_t bits = a ^ b;
  const uint64_t high = (((bits & kLow) + kLow) | bits) & ~kLow;
  return (high >> 7) * 0x0101010101010101u >> 56;
}

template <typename A, typename B>
uint64_t differences(const A* a, const B* b, size_t size) {
  uint64_t count = 0;
  size_t i = 0;
  if constexpr (sizeof(A) == 1 && sizeof(B) == 1) {
    for (; i + 8 <= size; i += 8) {
      uint64_t x = 0;
      uint64_t y = 0;
      std::memcpy(&x, a + i, 8);
      std::memcpy(&y, b + i, 8);
      count += different_bytes(x, y);
    }
  }
  for (; i < size; ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
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
  if (weights.insertion == weights.deletion) {
    const uint64_t weight = weights.insertion;
    if (weight == 0) return 0;
    if (weights.replacement == weight) return weight * pair_edits(PairCount::levenshtein, a, b);
    // A replacement is never less than what it stands for.
    if (weights.replacement / 2 >= weight) return weight * pair_edits(PairCount::lcs, a, b);
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
  if (x.length > 64 || !ByteSymbols::takes(x, y)) return long_osa_distance(x, y);
  const ByteSymbols bytes(x, y);
  return short_osa_distance(bytes.first(), bytes.second());
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

uint64_t hamming_distance(const Sequence& a, const Sequence& b) {
  const size_t common = std::min(a.length, b.length);
  const uint64_t rest = std::max(a.length, b.length) - common;
  return rest + with_both(a, b, [&](const auto x, const auto y) {
           return differences(x.data(), y.data(), common);
         });
}

uint64_t common_prefix(const Sequence& a, const Sequence& b) {
  const int64_t size = std::min(a.length, b.length);
  return static_cast<uint64_t>(with_both(
      a, b, [&](const auto x, const auto y) { return equal_at_front(x.data(), y.data(), size); }));
}

uint64_t common_suffix(const Sequence& a, const Sequence& b) {
  const int64_t size = std::min(a.length, b.length);
  return static_cast<uint64_t>(with_both(a, b, [&](const auto x, const auto y) {
    return equal_at_end(x.data() + x.size(), y.data() + y.size(), size);
  }));
}

double jaro_similarity(const Sequence& a, const Sequence& b) {
  if (a.length == 0 && b.length == 0) return 1.0;
  if (a.length == 0 || b.length == 0) return 0.0;
  const size_t longest = std::max(a.length, b.length);
  const size_t reach = longest / 2 > 1 ? longest / 2 - 1 : 0;
  const CommonSymbols found = common_symbols(a, b, reach);
  if (found.count == 0) return 0.0;
  const auto common = static_cast<double>(found.count);
  double sum = common / static_cast<double>(a.length);
  sum += common / static_cast<double>(b.length);
  sum += (common - static_cast<double>(found.moved / 2)) / common;
  return sum / 3.0;
}

double jaro_winkler_similarity(const Sequence& a, const Sequence& b, double prefix_weight) {
  const double jaro = jaro_similarity(a, b);
  if (jaro <= 0.7) return jaro;
  constexpr uint64_t kMostPrefix = 4;
  const auto prefix = static_cast<double>(std::min(common_prefix(a, b), kMostPrefix));
  return std::min(1.0, jaro + prefix * prefix_weight * (1.0 - jaro));
}

}  // namespace hoist::match
