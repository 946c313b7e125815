// Where the symbols of a sequence are, as bits in words of 64: made once, asked for many others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "match/fuzz/edit_distances.h"

namespace hoist::match {

class QueryMasks {
 public:
  QueryMasks() = default;  // of nothing, before set()
  explicit QueryMasks(Symbols query) { set(query); }

  // In the place of the one before, whose memory it uses.
  void set(Symbols query);

  size_t size() const { return size_; }
  size_t words() const { return words_; }  // 1 or more
  // The words of a symbol; zeros where the sequence does not have it.
  template <typename Symbol>
  const uint64_t* of(Symbol symbol) const {
    if constexpr (sizeof(Symbol) == 1) return low_.data() + size_t{symbol} * words_;
    return symbol < kLow ? low_.data() + size_t{symbol} * words_ : high(symbol);
  }

 private:
  static constexpr uint32_t kLow = 256;

  struct Slot {
    uint32_t symbol;
    uint32_t row;  // of high_masks_; 0 where it is free
  };

  const uint64_t* high(uint32_t symbol) const {
    if (slots_.empty()) return high_masks_.data();
    return high_masks_.data() + size_t{slots_[place_of(symbol)].row} * words_;
  }
  // The symbol's slot, or a free one.
  size_t place_of(uint32_t symbol) const {
    size_t place = symbol & (slots_.size() - 1);
    while (slots_[place].row != 0 && slots_[place].symbol != symbol) {
      place = (place + 1) & (slots_.size() - 1);
    }
    return place;
  }
  void add_high(Symbols query);

  size_t size_ = 0;
  size_t words_ = 0;
  std::vector<uint64_t> low_;         // of the symbols below kLow
  std::vector<uint32_t> used_;        // those of them that have bits
  std::vector<Slot> slots_;           // twice as many as symbols from kLow on, or more
  std::vector<uint64_t> high_masks_;  // the first row is of all that are not there
};

}  // namespace hoist::match
