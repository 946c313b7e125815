// Counts of byte symbols and of pairs of neighbours, from which an entropy table is built.
//
//   SymbolHistogram histogram;
//   histogram.add(exponents);
//
// 512 KiB. Not thread-safe: one per thread, then merge().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace hoist::codec {

class SymbolHistogram {
 public:
  SymbolHistogram() : pairs_(1 << 16) {}

  // Pairs are counted at even positions of `symbols`; an odd last symbol counts alone.
  void add(std::span<const uint8_t> symbols);
  // The same for those who have counted already: so many times `first` before `second`, and so many
  // odd last ones.
  void add_pairs(uint8_t first, uint8_t second, uint64_t count) {
    pairs_[static_cast<size_t>(first | second << 8)] += count;
  }
  void add_odd(uint8_t symbol) { ++odd_[symbol]; }
  void merge(const SymbolHistogram& other);

  uint64_t total() const;  // symbols
  std::array<uint64_t, 256> singles() const;
  // Index: first symbol | second symbol << 8.
  std::span<const uint64_t> pairs() const { return pairs_; }

  // Order-0 entropy, bits a symbol; 0 for no symbols.
  double entropy() const;

 private:
  std::vector<uint64_t> pairs_;
  std::array<uint64_t, 256> odd_{};
};

}  // namespace hoist::codec
