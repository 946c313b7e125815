// Longest common subsequences of one sequence with many parts of another, by bits (H. Hyyrö,
// "Bit-parallel LCS-length computation revisited", 2004).
#pragma once

#include <span>
#include <vector>

#include "match/fuzz/edit_distances.h"

namespace hoist::match {

class PartCounter {
 public:
  // Numbers the symbols of `text` once; parts are ranges of it.
  PartCounter(Symbols needle, Symbols text);

  // Whether the needle has the symbol at a place of the text.
  bool has(size_t place) const { return rows_[place] != 0; }
  uint64_t common(size_t begin, size_t end);
  // Where the needle has the symbol at a place of the text, 64 of its symbols a word.
  std::span<const uint64_t> masks(size_t place) const {
    return std::span(masks_).subspan(rows_[place] * words_, words_);
  }

 private:
  size_t words_;
  std::vector<uint64_t> masks_;  // a row for each symbol of the needle; the first is of all others
  std::vector<uint32_t> rows_;   // by place in the text
  std::vector<uint64_t> state_;
};

}  // namespace hoist::match
