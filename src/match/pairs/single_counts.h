// Counts of one sequence with others, one by one, with the masks of all symbols in a table: faster
// than lanes (pair_kernels.h) that only one or two sequences would fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/pairs/pair_kernels.h"
#include "match/pairs/symbol_numbers.h"

namespace hoist::match {

class SingleCounts {
 public:
  static constexpr size_t kMostWords = 8;  // of 64 symbols
  static constexpr size_t kMaxTableBytes = size_t{1} << 20;

  static bool fits(size_t length, uint32_t distinct) {
    const size_t words = words_of(length);
    return words <= kMostWords && words * distinct * sizeof(uint64_t) <= kMaxTableBytes;
  }

  // The sequence must fit. Symbols of both are below `distinct`.
  SingleCounts(PairCount count, std::span<const uint32_t> sequence, uint32_t distinct);

  // The LCS, or the Levenshtein distance.
  uint32_t with(std::span<const uint32_t> other) const {
    return kernels_.of_numbers(masks_.data(), length_, other);
  }
  uint32_t with(std::span<const uint8_t> other) const {
    return kernels_.of_bytes(masks_.data(), length_, other);
  }

  // Whether more than `most` symbols of the other have no equal in the sequence, of at most 64
  // symbols, within so many diagonals from `first` on (EditBand): each of them costs an edit.
  bool has_unmatched(const Sequence& other, const SymbolNumbers& numbers, int32_t first,
                     uint32_t diagonals, uint32_t most) const {
    return with_symbols(other, [&](const auto symbols) {
      return has_unmatched(symbols, numbers, first, diagonals, most);
    });
  }

  struct Kernels {
    template <typename Symbol>
    using Kernel = uint32_t(const uint64_t* masks, size_t length, std::span<const Symbol> other);

    Kernel<uint32_t>* of_numbers;
    Kernel<uint8_t>* of_bytes;
  };

 private:
  template <typename Symbol>
  bool has_unmatched(std::span<const Symbol> other, const SymbolNumbers& numbers, int32_t first,
                     uint32_t diagonals, uint32_t most) const {
    uint64_t rows = diagonals < 64 ? (uint64_t{1} << diagonals) - 1 : ~uint64_t{0};
    uint32_t unmatched = 0;
    int32_t row = first;
    for (const Symbol symbol : other) {
      if (row >= 64) break;
      const uint64_t in_band = row >= 0 ? rows << row : row > -64 ? rows >> -row : 0;
      const uint32_t number = sizeof(Symbol) == 1 ? symbol : numbers.of(symbol);
      unmatched += static_cast<uint32_t>((masks_[number] & in_band) == 0);
      if (unmatched > most) return true;
      ++row;
    }
    return false;
  }

  static size_t words_of(size_t length) { return length == 0 ? 1 : (length + 63) / 64; }

  size_t length_;
  std::vector<uint64_t> masks_;  // words of each symbol
  Kernels kernels_;
};

}  // namespace hoist::match
