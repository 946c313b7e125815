// Numbers the distinct symbols of one sequence: a hash table with open addressing that is built
// once and asked often.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace hoist::match {

class SymbolMap {
 public:
  static constexpr uint32_t kAbsent = std::numeric_limits<uint32_t>::max();

  // At most this many distinct symbols will be added.
  explicit SymbolMap(size_t distinct) {
    const size_t slots = std::bit_ceil(4 * distinct + 4);
    shift_ = 32 - std::countr_zero(slots);
    slots_.assign(slots, {0, kAbsent});
  }

  // The symbol's number: 0, 1, … in order of first appearance.
  uint32_t add(uint32_t symbol) {
    Slot& slot = slots_[slot_of(symbol)];
    if (slot.number == kAbsent) slot = {symbol, size_++};
    return slot.number;
  }

  // kAbsent where it was never added.
  uint32_t find(uint32_t symbol) const { return slots_[slot_of(symbol)].number; }

  uint32_t size() const { return size_; }

 private:
  struct Slot {
    uint32_t symbol;
    uint32_t number;
  };

  // Where the symbol is, or the free slot where it would go.
  size_t slot_of(uint32_t symbol) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = (symbol * 0x9E3779B1u) >> shift_;
    while (slots_[slot].number != kAbsent && slots_[slot].symbol != symbol) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  std::vector<Slot> slots_;
  uint32_t size_ = 0;
  int shift_ = 0;
};

}  // namespace hoist::match
