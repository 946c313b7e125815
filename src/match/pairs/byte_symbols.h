// Two short sequences as bytes: equal symbols are equal bytes, whatever their widths.
//
//   ByteSymbols bytes(a, b);
//   bytes.first(), bytes.second()  // where they lie, or copied
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "match/pairs/sequence_list.h"

namespace hoist::match {

class ByteSymbols {
 public:
  static constexpr uint32_t kMost = 384;

  // takes() must be true.
  ByteSymbols(const Sequence& first, const Sequence& second) {
    if (are_bytes(first) && are_bytes(second)) {
      first_ = in_place(first);
      second_ = in_place(second);
      return;
    }
    if (fits(first) && fits(second)) {
      copy(first, first_room_);
      copy(second, second_room_);
    } else {
      number(first, second);
    }
    first_ = std::span(first_room_).first(first.length);
    second_ = std::span(second_room_).first(second.length);
  }
  ByteSymbols(const ByteSymbols&) = delete;
  ByteSymbols& operator=(const ByteSymbols&) = delete;

  // Up to kMost symbols that are small or of few kinds, or any number of bytes.
  static bool takes(const Sequence& first, const Sequence& second) {
    if (are_bytes(first) && are_bytes(second)) return true;
    const uint32_t longest = std::max(first.length, second.length);
    return longest <= kNumbered || (longest <= kMost && fits(first) && fits(second));
  }

  std::span<const uint8_t> first() const { return first_; }
  std::span<const uint8_t> second() const { return second_; }

 private:
  using Room = std::array<uint8_t, kMost>;
  struct Slot {
    uint32_t symbol;
    uint8_t number;  // 0 where it is free
  };
  static constexpr size_t kSlots = 512;
  // Symbols of the first one have numbers from 1 on; 0 is what it does not have.
  static constexpr uint32_t kNumbered = 255;

  static bool are_bytes(const Sequence& sequence) { return sequence.width == 1; }
  static std::span<const uint8_t> in_place(const Sequence& sequence) {
    return {static_cast<const uint8_t*>(sequence.symbols), sequence.length};
  }
  static bool fits(const Sequence& sequence) {
    return with_symbols(sequence, [](const auto symbols) {
      uint32_t all = 0;
      for (const uint32_t symbol : symbols) all |= symbol;
      return all < 256;
    });
  }
  static void copy(const Sequence& sequence, Room& room) {
    with_symbols(sequence, [&](const auto symbols) {
      for (size_t i = 0; i < symbols.size(); ++i) room[i] = static_cast<uint8_t>(symbols[i]);
    });
  }

  void number(const Sequence& first, const Sequence& second) {
    std::array<Slot, kSlots> slots = {};
    const auto slot_of = [&](uint32_t symbol) -> Slot& {
      size_t place = (symbol * 0x9E3779B1u) >> 23;
      while (slots[place].number != 0 && slots[place].symbol != symbol) {
        place = (place + 1) % kSlots;
      }
      return slots[place];
    };
    uint8_t last = 0;
    with_symbols(first, [&](const auto symbols) {
      for (size_t i = 0; i < symbols.size(); ++i) {
        Slot& slot = slot_of(symbols[i]);
        if (slot.number == 0) slot = {symbols[i], ++last};
        first_room_[i] = slot.number;
      }
    });
    with_symbols(second, [&](const auto symbols) {
      for (size_t i = 0; i < symbols.size(); ++i) second_room_[i] = slot_of(symbols[i]).number;
    });
  }

  Room first_room_;
  Room second_room_;
  std::span<const uint8_t> first_;
  std::span<const uint8_t> second_;
};

// Masks of a short sequence of bytes, by symbol: a thread's table, all zero between uses.
class ThreadMasks {
 public:
  static constexpr size_t kMostWords = 8;

  // `words` of 64 symbols for each symbol, in which those of the sequence begin with word `first`.
  ThreadMasks(std::span<const uint8_t> symbols, size_t words, size_t first = 0)
      : table_(thread_table()), symbols_(symbols), words_(words), first_(first) {
    for_each_row([](uint64_t& mask, size_t row) { mask |= uint64_t{1} << row % 64; });
  }
  ~ThreadMasks() {
    for_each_row([](uint64_t& mask, size_t /*row*/) { mask = 0; });
  }
  ThreadMasks(const ThreadMasks&) = delete;
  ThreadMasks& operator=(const ThreadMasks&) = delete;

  size_t size() const { return symbols_.size(); }
  size_t words() const { return words_; }
  const uint64_t* of(uint8_t symbol) const { return table_ + symbol * words_; }

 private:
  // Where it can be seen, compilers look it up again at each use.
  static uint64_t* thread_table();

  // With what it needs in variables of its own: stores to the table might change members.
  template <typename Work>
  void for_each_row(const Work& work) const {
    uint64_t* const table = table_;
    const uint8_t* const symbols = symbols_.data();
    const size_t size = symbols_.size();
    const size_t words = words_;
    if (words == 1) {
      for (size_t row = 0; row < size; ++row) work(table[symbols[row]], row);
      return;
    }
    const size_t first = first_;
    for (size_t row = 0; row < size; ++row)
      work(table[symbols[row] * words + first + row / 64], row);
  }

  uint64_t* const table_;
  const std::span<const uint8_t> symbols_;
  const size_t words_;
  const size_t first_;
};

}  // namespace hoist::match
