// A state's symbols and the masks of their places, for states of at most 64 symbols of 16 bits: the
// upper `bits` of the low 16 of id * multiplier are a perfect hash of the symbols
// (match/scan/query_tables.h finds the multiplier).
//
// In shared memory each of a warp's lanes has a copy of its own, in its own memory bank: 32 lanes
// that look up 32 symbols never wait for one another. That costs 8 KiB for a state of 16 symbols.
//
// What is looked up, and a slot's key, lie in the upper half of a word, the mask below. So the hash
// needs no further shift, and entry - symbol is the mask where the keys are equal, and more than
// any mask where they are not. What is left above a mask does no harm: additions carry upwards
// only.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"

namespace hoist::match {

inline constexpr uint32_t kNoKey = 0xFFFF;  // what pads tiles: no symbol has it

// The two symbols of a word of a tile's row, each in the upper half, with zeros below.
HOIST_HD inline uint32_t first_symbol(uint32_t pair) { return pair << 16; }
HOIST_HD inline uint32_t second_symbol(uint32_t pair) { return pair & 0xFFFF'0000u; }

HOIST_HD inline uint32_t slot_of(uint32_t id, uint32_t multiplier, uint32_t bits) {
  return (id << 16) * multiplier >> (32 - bits);
}
// Above the masks that an upper half has.
inline constexpr uint32_t kNoMask = 0x1'0000;

// Where a symbol's slot is: bytes from the first table's beginning. `copy`, where the table's first
// slot is, has no bit where the number of a slot has one.
template <uint32_t kStride>
class SlotPlace {
 public:
  HOIST_HD SlotPlace(uint32_t copy, uint32_t multiplier, uint32_t bits)
      : copy_(copy), multiplier_(multiplier), shift_(32 - bits - kStrideBits) {}
  HOIST_HD uint32_t of(uint32_t symbol) const {
    return (symbol * multiplier_ >> shift_ & ~(kStride - 1)) | copy_;
  }

 private:
  static constexpr uint32_t kStrideBits = std::countr_zero(kStride);
  static_assert(kStride == 1u << kStrideBits);

  uint32_t copy_;
  uint32_t multiplier_;
  uint32_t shift_;
};

// One word a slot: the key in its upper 16 bits, the mask below.
template <typename Word_, uint32_t kCopies>
class KeyedTable {
 public:
  using Word = Word_;
  static constexpr uint32_t kSymbols = 8 * sizeof(Word) - 16;
  static constexpr uint32_t kSlotBytes = sizeof(Word);
  static constexpr Word kMask = (Word{1} << kSymbols) - 1;
  // Whether not to take a step for a symbol without places is cheaper than to take it: places of
  // two words are not made none in one instruction.
  static constexpr bool kSkips = sizeof(Word) > sizeof(uint32_t);

  // `tables`: of several states, all copies of all slots of each; this is the n-th.
  HOIST_HD KeyedTable(const void* tables, uint32_t n, uint32_t copy, uint32_t multiplier,
                      uint32_t bits)
      : tables_(static_cast<const unsigned char*>(tables)),
        place_((n * kCopies << bits) * kSlotBytes | copy * kSlotBytes, multiplier, bits) {}
  // The places of a symbol in the state, none where it is not there; above kMask anything.
  HOIST_HD Word places(uint32_t symbol) const {
    const Word entry = entry_of(symbol);
    // The least of this and kNoMask is one instruction on a GPU.
    const uint32_t difference = upper_half(entry) - symbol;
    const uint32_t upper = difference < kNoMask ? difference : kNoMask;
    if constexpr (sizeof(Word) == sizeof(uint32_t)) {
      return upper;
    } else {
      return Word{upper} << 32 | (upper != kNoMask ? static_cast<uint32_t>(entry) : 0);
    }
  }
  // Whether there are any: else `places` becomes anything.
  HOIST_HD bool find(uint32_t symbol, Word& places) const {
    const Word entry = entry_of(symbol);
    const uint32_t difference = upper_half(entry) - symbol;
    places = Word{difference} << (kSymbols - 16) | (entry & (kMask >> 16));
    return difference < kNoMask;
  }

 private:
  HOIST_HD Word entry_of(uint32_t symbol) const {
    return *reinterpret_cast<const Word*>(tables_ + place_.of(symbol));
  }
  HOIST_HD static uint32_t upper_half(Word entry) {
    return static_cast<uint32_t>(entry >> (kSymbols - 16));
  }

  const unsigned char* tables_;
  SlotPlace<kCopies * kSlotBytes> place_;
};

// Masks of 64 bits, behind them the keys.
template <uint32_t kCopies>
class WideTable {
 public:
  using Word = uint64_t;
  static constexpr uint32_t kSymbols = 64;
  static constexpr uint32_t kSlotBytes = sizeof(uint64_t) + sizeof(uint32_t);
  static constexpr Word kMask = ~Word{0};
  static constexpr bool kSkips = false;  // the second load would wait for the first

  HOIST_HD WideTable(const void* tables, uint32_t n, uint32_t copy, uint32_t multiplier,
                     uint32_t bits)
      : masks_(static_cast<const unsigned char*>(tables) + (n * kCopies << bits) * kSlotBytes),
        keys_(masks_ + (kCopies * sizeof(uint64_t) << bits)),
        mask_place_(copy * sizeof(uint64_t), multiplier, bits),
        key_place_(copy * sizeof(uint32_t), multiplier, bits) {}
  HOIST_HD Word places(uint32_t symbol) const {
    const auto mask = *reinterpret_cast<const uint64_t*>(masks_ + mask_place_.of(symbol));
    const auto key = *reinterpret_cast<const uint32_t*>(keys_ + key_place_.of(symbol));
    return key == symbol ? mask : 0;
  }

 private:
  const unsigned char* masks_;
  const unsigned char* keys_;
  SlotPlace<kCopies * sizeof(uint64_t)> mask_place_;
  SlotPlace<kCopies * sizeof(uint32_t)> key_place_;
};

template <uint32_t kCopies>
using NarrowTable = KeyedTable<uint32_t, kCopies>;  // up to 16 symbols
template <uint32_t kCopies>
using MediumTable = KeyedTable<uint64_t, kCopies>;  // up to 48

}  // namespace hoist::match
