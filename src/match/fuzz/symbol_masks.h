// Where the symbols of a short sequence are, as bits; on the stack.
#pragma once

#include <array>
#include <cstdint>

#include "match/fuzz/edit_distances.h"

namespace hoist::match {

class SymbolMasks {
 public:
  static constexpr size_t kMost = 64;  // symbols

  explicit SymbolMasks(Symbols symbols) {
    for (size_t i = 0; i < symbols.size(); ++i) {
      const uint64_t bit = uint64_t{1} << i;
      if (symbols[i] < low_.size()) {
        low_[symbols[i]] |= bit;
      } else {
        Slot& slot = high_[place_of(symbols[i])];
        slot.symbol = symbols[i];
        slot.mask |= bit;
      }
    }
  }

  uint64_t operator[](uint32_t symbol) const {
    return symbol < low_.size() ? low_[symbol] : high_[place_of(symbol)].mask;
  }

 private:
  struct Slot {
    uint32_t symbol;
    uint64_t mask;  // 0 where it is free
  };

  // The symbol's slot, or a free one: there are twice as many as symbols.
  size_t place_of(uint32_t symbol) const {
    size_t place = symbol % high_.size();
    while (high_[place].mask != 0 && high_[place].symbol != symbol) {
      place = (place + 1) % high_.size();
    }
    return place;
  }

  std::array<uint64_t, 256> low_{};
  std::array<Slot, 2 * kMost> high_{};
};

}  // namespace hoist::match
