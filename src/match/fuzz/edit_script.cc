#include "match/fuzz/edit_script.h"

#include <algorithm>
#include <span>

#include "match/fuzz/part_counter.h"
#include "match/fuzz/place_counts.h"

namespace hoist::match {
namespace {

// How each cell of the matrix differs from its left neighbour: by 1, -1 or neither. Columns are a's
// symbols, rows b's.
class LeftDifferences {
 public:
  LeftDifferences(Symbols a, Symbols b, bool replaces)
      : words_((a.size() + 63) / 64), more_(words_ * b.size()), less_(words_ * b.size()) {
    const PartCounter counter(a, b);
    for (size_t row = 0; row < b.size(); ++row) {
      if (replaces) {
        add_levenshtein(row, counter.masks(row));
      } else {
        add_indel(row, counter.masks(row));
      }
    }
  }

  bool is_more(size_t row, size_t column) const { return bit(more_, row, column); }
  bool is_less(size_t row, size_t column) const { return bit(less_, row, column); }

 private:
  bool bit(const std::vector<uint64_t>& bits, size_t row, size_t column) const {
    return (bits[row * words_ + column / 64] >> (column % 64) & 1) != 0;
  }

  // H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003.
  void add_levenshtein(size_t row, std::span<const uint64_t> masks) {
    uint64_t down_carry = 1;  // the first column counts up
    uint64_t up_carry = 0;
    for (size_t word = 0; word < words_; ++word) {
      const size_t at = row * words_ + word;
      const uint64_t more = row == 0 ? ~uint64_t{0} : more_[at - words_];
      const uint64_t less = row == 0 ? 0 : less_[at - words_];
      const uint64_t matches = masks[word] | up_carry;
      const uint64_t diagonal = (((matches & more) + more) ^ more) | matches | less;
      uint64_t down = less | ~(diagonal | more);
      uint64_t up = diagonal & more;
      const uint64_t next_down = down >> 63;
      const uint64_t next_up = up >> 63;
      down = down << 1 | down_carry;
      up = up << 1 | up_carry;
      down_carry = next_down;
      up_carry = next_up;
      more_[at] = up | ~(diagonal | down);
      less_[at] = down & diagonal;
    }
  }

  // H. Hyyrö, "Bit-parallel LCS-length computation revisited", 2004: where the longest common
  // subsequence grows, there is one edit less.
  void add_indel(size_t row, std::span<const uint64_t> masks) {
    uint64_t carry = 0;
    for (size_t word = 0; word < words_; ++word) {
      const size_t at = row * words_ + word;
      const uint64_t state = row == 0 ? ~uint64_t{0} : more_[at - words_];
      const uint64_t matches = state & masks[word];
      const uint64_t part = state + carry;
      const uint64_t sum = part + matches;
      carry = static_cast<uint64_t>(part < carry) + static_cast<uint64_t>(sum < matches);
      more_[at] = sum | (state - matches);
      less_[at] = ~more_[at];
    }
  }

  size_t words_;
  std::vector<uint64_t> more_;
  std::vector<uint64_t> less_;
};

// From the last cell back: a deletion wherever one is as good, an insertion where the row above
// says so, else the diagonal.
std::vector<Edit> edits(Symbols a, Symbols b, bool replaces) {
  const uint64_t front = common_prefix(as_sequence(a), as_sequence(b));
  a = a.subspan(front);
  b = b.subspan(front);
  const uint64_t back = common_suffix(as_sequence(a), as_sequence(b));
  a = a.first(a.size() - back);
  b = b.first(b.size() - back);
  std::vector<Edit> out;
  const auto add = [&](Edit::Kind kind, size_t column, size_t row) {
    out.push_back({kind, column + front, row + front});
  };
  const LeftDifferences left(a, b, replaces);
  size_t column = a.size();
  size_t row = b.size();
  while (row > 0 && column > 0) {
    if (left.is_more(row - 1, column - 1)) {
      --column;
      add(Edit::Kind::deletion, column, row);
      continue;
    }
    --row;
    if (row > 0 && left.is_less(row - 1, column - 1)) {
      add(Edit::Kind::insertion, column, row);
      continue;
    }
    --column;
    if (a[column] != b[row]) add(Edit::Kind::replacement, column, row);
  }
  while (column > 0) add(Edit::Kind::deletion, --column, row);
  while (row > 0) add(Edit::Kind::insertion, column, --row);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<Edit> levenshtein_edits(Symbols a, Symbols b) { return edits(a, b, true); }
std::vector<Edit> indel_edits(Symbols a, Symbols b) { return edits(a, b, false); }

}  // namespace hoist::match
