// Counts of one sequence with others, one by one, with the masks of all symbols in a table: faster
// than lanes (pair_kernels.h) that only one or two sequences would fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/pairs/pair_kernels.h"

namespace hoist::match {

class SingleCounts {
 public:
  static constexpr size_t kMostWords = 8;  // of 64 symbols
  static constexpr size_t kMaxTableBytes = size_t{1} << 20;

  static bool fits(size_t length, uint32_t distinct) {
    const size_t words = words_of(length);
    return words <= kMostWords && words * distinct * sizeof(uint64_t) <= kMaxTableBytes;
  }

  // Of a sequence that fits. Symbols of both are below `distinct`.
  SingleCounts(PairCount count, std::span<const uint32_t> sequence, uint32_t distinct);

  // The LCS, or the Levenshtein distance.
  uint32_t with(std::span<const uint32_t> other) const {
    return kernel_(masks_.data(), length_, other);
  }

 private:
  using Kernel = uint32_t(const uint64_t* masks, size_t length, std::span<const uint32_t> other);

  static size_t words_of(size_t length) { return length == 0 ? 1 : (length + 63) / 64; }

  size_t length_;
  std::vector<uint64_t> masks_;  // words of each symbol
  Kernel* kernel_;
};

}  // namespace hoist::match
