// A word of 64 rows of the dynamic-programming matrix, as it is in the column last gone through:
// what goes from column to column and from word to word.
//
// Levenshtein distance: G. Myers, "A fast bit-vector algorithm for approximate string matching
// based on dynamic programming" (1999), in the form of H. Hyyrö, "A bit-vector algorithm for
// computing Levenshtein and Damerau edit distances" (2003). Longest common subsequence: H. Hyyrö,
// "Bit-parallel LCS-length computation revisited" (2004).
#pragma once

#include <bit>
#include <cstdint>

namespace hoist::match {

struct LevenshteinRows {
  // Differences between two columns in the row above the word: to the right, one more or one less.
  struct Carry {
    uint64_t up = 1;
    uint64_t down = 0;

    uint8_t packed() const { return static_cast<uint8_t>(up | down << 1); }
    static Carry unpacked(uint8_t bits) { return {bits & uint64_t{1}, uint64_t{bits} >> 1}; }
  };
  static int64_t edits(int64_t columns, int64_t /*rows*/, int64_t sum) { return columns + sum; }

  // The sum of the differences between rows.
  int64_t sum(uint64_t rows) const {
    return int64_t{std::popcount(up & rows)} - std::popcount(down & rows);
  }
  void step(uint64_t mask, Carry& carry) {
    const uint64_t matches = mask | carry.down;
    const uint64_t diagonal = (((matches & up) + up) ^ up) | matches | down;
    const uint64_t right_up = down | ~(diagonal | up);
    const uint64_t right_down = diagonal & up;
    const uint64_t shifted_up = right_up << 1 | carry.up;
    const uint64_t shifted_down = right_down << 1 | carry.down;
    carry = {right_up >> 63, right_down >> 63};
    up = shifted_down | ~(diagonal | shifted_up);
    down = shifted_up & diagonal;
  }

  uint64_t up = ~uint64_t{0};
  uint64_t down = 0;
};

struct LcsRows {
  struct Carry {
    uint64_t bit = 0;

    uint8_t packed() const { return static_cast<uint8_t>(bit); }
    static Carry unpacked(uint8_t bits) { return {bits}; }
  };
  static int64_t edits(int64_t columns, int64_t rows, int64_t sum) {
    return columns + rows - 2 * sum;
  }

  // Rows that have one more in common than the row above.
  int64_t sum(uint64_t rows) const { return std::popcount(~state & rows); }
  void step(uint64_t mask, Carry& carry) {
    const uint64_t matches = state & mask;
    uint64_t next = 0;
    const bool overflow = __builtin_add_overflow(state, matches, &next);
    const bool carried = __builtin_add_overflow(next, carry.bit, &next);
    state = next | (state - matches);
    carry.bit = static_cast<uint64_t>(overflow | carried);
  }

  uint64_t state = ~uint64_t{0};
};

}  // namespace hoist::match
