// 64 diagonals of the dynamic-programming matrix in a word, as they are in the column last gone
// through; banded_edits.h says after whom. Bit 63 is the lowest diagonal.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hoist::match {

inline uint64_t low_bits(int64_t bits) { return ~uint64_t{0} >> (64 - bits); }  // of 1 to 64

// `last` is the lowest diagonal, `end` that of the last cell. Rows above the matrix are equal to
// the row 0 of the column.
class LevenshteinDiagonals {
 public:
  static constexpr size_t kColumnsPerBound = 8;

  LevenshteinDiagonals(int64_t last, int64_t end)
      : up_(~uint64_t{0} << (63 - last)),
        end_bit_(63 - (last - end)),
        first_(std::max<int64_t>(end, 0)) {}

  void step(uint64_t matches) {
    const uint64_t diagonal = (((matches & up_) + up_) ^ up_) | matches | down_;
    const uint64_t right_up = down_ | ~(diagonal | up_);
    const uint64_t right_down = diagonal & up_;
    not_edits_ += diagonal >> end_bit_ & 1;
    up_ = right_down | ~(diagonal >> 1 | right_up);
    down_ = diagonal >> 1 & right_up;
  }
  // To the last cell's diagonal.
  int64_t edits(int64_t columns) const {
    return first_ + columns - static_cast<int64_t>(not_edits_);
  }

 private:
  uint64_t up_;  // differences between a row and the one above: +1, -1
  uint64_t down_ = 0;
  int64_t end_bit_;
  int64_t first_;  // edits in row or column 0
  uint64_t not_edits_ = 0;
};

class LcsDiagonals {
 public:
  static constexpr size_t kColumnsPerBound = 16;

  LcsDiagonals(int64_t last, int64_t end) : end_(end), rows_(low_bits(64 - (last - end))) {}

  void step(uint64_t matches) {
    const uint64_t common = state_ & matches;
    const uint64_t next = (state_ + common) | (state_ - common);
    steps_ = ~next & rows_;
    above_ += static_cast<int64_t>(left_);
    left_ = ~next & 1;
    state_ = next >> 1 | uint64_t{1} << 63;
  }
  int64_t edits(int64_t columns) const {
    return 2 * columns + end_ - 2 * (above_ + std::popcount(steps_));
  }

 private:
  uint64_t state_ = ~uint64_t{0};  // 0 where a row has one more in common than the one above
  uint64_t steps_ = 0;             // of the last column, down to the last cell's diagonal
  uint64_t left_ = 0;              // the word's first row, which is above the word from now on
  int64_t above_ = 0;              // in common above the word
  int64_t end_;
  uint64_t rows_;
};

}  // namespace hoist::match
