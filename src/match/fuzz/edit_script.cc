#include "match/fuzz/edit_script.h"

#include <algorithm>

namespace hoist::match {
namespace {

// How each cell of the matrix differs from its left neighbour, in two bits: -1, 0 or 1, plus 1.
// Columns are a's symbols, rows b's.
class LeftDifferences {
 public:
  LeftDifferences(size_t rows, size_t columns)
      : columns_(columns), bits_((rows * columns + kCells - 1) / kCells) {}

  void set(size_t row, size_t column, uint32_t left, uint32_t own) {
    const size_t cell = row * columns_ + column;
    bits_[cell / kCells] |= uint64_t{own + 1 - left} << (cell % kCells * 2);
  }
  int at(size_t row, size_t column) const {
    const size_t cell = row * columns_ + column;
    return static_cast<int>(bits_[cell / kCells] >> (cell % kCells * 2) & 3) - 1;
  }

 private:
  static constexpr size_t kCells = 32;  // of a word
  size_t columns_;
  std::vector<uint64_t> bits_;
};

LeftDifferences differences(Symbols a, Symbols b, uint32_t replacement) {
  LeftDifferences out(b.size(), a.size());
  std::vector<uint32_t> row(a.size() + 1);
  for (size_t j = 0; j <= a.size(); ++j) row[j] = static_cast<uint32_t>(j);
  for (size_t i = 0; i < b.size(); ++i) {
    uint32_t diagonal = row[0];
    ++row[0];
    for (size_t j = 0; j < a.size(); ++j) {
      const uint32_t above = row[j + 1];
      row[j + 1] =
          a[j] == b[i] ? diagonal : std::min({row[j] + 1, above + 1, diagonal + replacement});
      diagonal = above;
      out.set(i, j, row[j], row[j + 1]);
    }
  }
  return out;
}

// From the last cell back: a deletion wherever one is as good, an insertion where the row above
// says so, else the diagonal.
std::vector<Edit> edits(Symbols a, Symbols b, uint32_t replacement) {
  const uint64_t front = common_prefix(a, b);
  a = a.subspan(front);
  b = b.subspan(front);
  const uint64_t back = common_suffix(a, b);
  a = a.first(a.size() - back);
  b = b.first(b.size() - back);
  std::vector<Edit> out;
  const auto add = [&](Edit::Kind kind, size_t column, size_t row) {
    out.push_back({kind, column + front, row + front});
  };
  const LeftDifferences left = differences(a, b, replacement);
  size_t column = a.size();
  size_t row = b.size();
  while (row > 0 && column > 0) {
    if (left.at(row - 1, column - 1) == 1) {
      --column;
      add(Edit::Kind::deletion, column, row);
      continue;
    }
    --row;
    if (row > 0 && left.at(row - 1, column - 1) == -1) {
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

std::vector<Edit> levenshtein_edits(Symbols a, Symbols b) { return edits(a, b, 1); }
std::vector<Edit> indel_edits(Symbols a, Symbols b) { return edits(a, b, 2); }

}  // namespace hoist::match
