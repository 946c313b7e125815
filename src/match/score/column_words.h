// Where each symbol of a short sequence stands, as a word with a bit for each position: looked up
// without a branch, since whether a symbol is there is what a processor cannot foresee.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace hoist::match {

class ColumnWords {
 public:
  static constexpr size_t kLongest = 64;

  // Empty for a sequence that is longer than kLongest, and for one of whose symbols no two may
  // share a slot by any multiplier that is tried, which hardly ever happens.
  explicit ColumnWords(std::span<const uint32_t> sequence) {
    if (sequence.size() > kLongest) return;
    shift_ = 32 - std::countr_zero(std::bit_ceil(16 * sequence.size() + 16));
    for (uint32_t attempt = 0; attempt < kAttempts; ++attempt, multiplier_ += 0x3C6EF372u) {
      if (fill(sequence)) return;
    }
    slots_.clear();
  }

  bool is_empty() const { return slots_.empty(); }
  // The symbol's positions; none is 0.
  uint64_t of(uint32_t symbol) const {
    const Slot& slot = slots_[symbol * multiplier_ >> shift_];
    return slot.symbol == symbol ? slot.columns : 0;
  }

 private:
  static constexpr uint32_t kAttempts = 256;
  struct Slot {
    uint64_t columns;
    uint32_t symbol;
  };

  // Whether each symbol has a slot of its own.
  bool fill(std::span<const uint32_t> sequence) {
    slots_.assign(size_t{1} << (32 - shift_), {0, 0});
    for (size_t i = 0; i < sequence.size(); ++i) {
      Slot& slot = slots_[sequence[i] * multiplier_ >> shift_];
      if (slot.columns != 0 && slot.symbol != sequence[i]) return false;
      slot.symbol = sequence[i];
      slot.columns |= uint64_t{1} << i;
    }
    return true;
  }

  std::vector<Slot> slots_;
  uint32_t multiplier_ = 0x9E3779B1u;  // odd, as each that follows
  int shift_ = 0;
};

}  // namespace hoist::match
