// Edits between two sequences, bit-parallel, where only the diagonals of the dynamic-programming
// matrix are looked at that as many edits as are allowed can reach: the time is proportional to the
// length times those diagonals / 64, and pairs that are further apart show it early.
//
//   BandedEdits banded(distinct);
//   if (banded.count(PairCount::levenshtein, a, b, 31) > 31) …  // how many they are is not known
//
// A path of so many edits leaves the diagonals between the first cell's and the last cell's by at
// most half of what is left (E. Ukkonen, "Algorithms for approximate string matching", 1985). Up to
// 64 diagonals go along in one word, a row further down at each column; more of them in words of
// rows that enter and leave (H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and
// Damerau edit distances", 2003, and "Bit-parallel LCS-length computation revisited", 2004).
// What is outside of the band counts as if no symbols were equal there: no path becomes too short.
// Edits never become fewer along a diagonal: once they are too many on the last cell's, the pair is
// beyond the limit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stop_token>
#include <vector>

#include "match/pairs/pair_kernels.h"
#include "match/pairs/symbol_numbers.h"

namespace hoist::match {

// The diagonals of sequences of lengths m and n that are at most `most` edits apart, which is at
// least |m - n|. Rows are symbols of the first sequence, columns those of the second; diagonal d
// has row j + d in column j.
struct EditBand {
  EditBand(uint32_t m, uint32_t n, uint64_t most) : rows(m), end(int64_t{m} - n) {
    const int64_t spare = (static_cast<int64_t>(most) - std::abs(end)) / 2;
    first = std::max(std::min<int64_t>(0, end) - spare, -int64_t{n});
    last = std::min(std::max<int64_t>(0, end) + spare, rows);
  }

  // At most so many blocks of 64 rows have a row in the band at a time.
  uint64_t words() const {
    const int64_t touched = (last - first + kStretch - 1 + 63) / 64 + 1;
    return static_cast<uint64_t>(std::min(touched, (rows + 63) / 64));
  }

  // Columns for which the words in the band stay the same.
  static constexpr int64_t kStretch = 16;

  int64_t rows;
  int64_t first;
  int64_t last;
  int64_t end;  // the diagonal of the last cell
};

// For one thread. The symbols of sequences stay where and as they are as long as it lives: what was
// found out about the first one is kept for the next pair.
class BandedEdits {
 public:
  // Symbols are below `distinct`. Once `stop` is requested, counts are undefined and come soon.
  explicit BandedEdits(uint32_t distinct, const std::stop_token& stop = {},
                       size_t table_bytes = kTableBytes)
      : distinct_(distinct),
        most_words_(table_bytes / sizeof(uint64_t) / std::max<uint32_t>(1, distinct)),
        stop_(stop) {}

  // Tables are at most so large unless more is given, and there are two.
  static constexpr size_t kTableBytes = size_t{2} << 20;
  bool is_in_one_word(const EditBand& band) const {
    return band.last - band.first < 64 &&
           whole_words(static_cast<uint64_t>(band.rows)) <= most_words_;
  }
  // Whether its tables are large enough for this band.
  bool takes(const EditBand& band) const {
    return is_in_one_word(band) || band.words() <= most_words_;
  }

  // Levenshtein distance, or insertions and deletions (m + n - 2 * LCS) if `count` is lcs; most + 1
  // where there are more than `most`, which is at least the difference of the lengths. If only the
  // first `columns` symbols of b are looked at, a number that is not more than that.
  uint64_t count(PairCount count, NumberedSequence& a, NumberedSequence& b, uint64_t most,
                 uint64_t columns = UINT64_MAX);

 private:
  // Words of a sequence with a word of nothing before and after it.
  static uint64_t whole_words(uint64_t rows) { return (rows + 63) / 64 + 2; }

  template <typename Diagonals>
  uint64_t in_one_word(const EditBand& band, NumberedSequence& a, NumberedSequence& b,
                       uint64_t columns, uint64_t most);
  // Makes the masks of the first rows of `a`, if they are not there yet.
  void fill_whole(NumberedSequence& a, size_t rows);
  template <typename Word>
  uint64_t in_words(const EditBand& band, NumberedSequence& a, NumberedSequence& b,
                    uint64_t columns, uint64_t most);

  bool is_cancelled() const { return stop_.stop_requested(); }

  uint32_t distinct_;
  uint64_t most_words_;
  const std::stop_token stop_;
  // Masks of the rows at which a symbol is: `distinct_` of each word.
  std::vector<uint64_t> whole_;  // of a sequence, with which mostly many others are compared
  const void* of_ = nullptr;     // its first symbol
  std::vector<uint32_t> rows_;   // its symbols that have masks
  std::vector<uint64_t> ring_;   // of the words in the band; zero between pairs
};

}  // namespace hoist::match
