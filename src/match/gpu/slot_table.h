// A state's symbols and the masks of their places, for states of at most 64 symbols of 16 bits: the
// upper `bits` of the low 16 of id * multiplier are a perfect hash of the symbols
// (match/scan/query_tables.h finds the multiplier).
//
// In shared memory each of a warp's lanes has a copy of its own, in its own memory bank: 32 lanes
// that look up 32 symbols never wait for one another. That costs 8 KiB for a state of 16 symbols.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hoist::match {

inline constexpr uint32_t kNoKey = 0xFFFF;  // what pads tiles: no symbol has it

// Of the low 16 bits of `id`, whatever lies above them; `factor` is multiplier << 16.
HOIST_HD inline uint32_t slot_of(uint32_t id, uint32_t factor, uint32_t bits) {
  return id * factor >> (32 - bits);
}
HOIST_HD inline bool same_id(uint32_t key, uint32_t id) { return ((key ^ id) & 0xFFFF) == 0; }

// What a table has for a symbol; without it the mask means nothing.
template <typename Word>
struct SlotFound {
  Word mask;
  bool is_found;

  HOIST_HD Word mask_or_none() const { return is_found ? mask : Word{0}; }
};

// One word a slot: the key in its low 16 bits, the mask above.
template <typename Word_, uint32_t kCopies>
class KeyedTable {
 public:
  using Word = Word_;
  static constexpr uint32_t kOffset = 16;
  static constexpr uint32_t kSymbols = 8 * sizeof(Word) - kOffset;
  static constexpr uint32_t kSlotBytes = sizeof(Word);

  // `table`: all copies of all slots.
  HOIST_HD KeyedTable(const void* table, uint32_t copy, uint32_t multiplier, uint32_t bits)
      : entries_(static_cast<const Word*>(table) + copy), factor_(multiplier << 16), bits_(bits) {}
  // Only the low 16 bits of `id` count.
  HOIST_HD SlotFound<Word> find(uint32_t id) const {
    const Word entry = entries_[slot_of(id, factor_, bits_) * kCopies];
    return {entry & ~Word{0xFFFF}, same_id(static_cast<uint32_t>(entry), id)};
  }

 private:
  const Word* entries_;
  uint32_t factor_;
  uint32_t bits_;
};

// Masks of 64 bits, behind them the keys.
template <uint32_t kCopies>
class WideTable {
 public:
  using Word = uint64_t;
  static constexpr uint32_t kOffset = 0;
  static constexpr uint32_t kSymbols = 64;
  static constexpr uint32_t kSlotBytes = sizeof(uint64_t) + sizeof(uint32_t);

  HOIST_HD WideTable(const void* table, uint32_t copy, uint32_t multiplier, uint32_t bits)
      : masks_(static_cast<const uint64_t*>(table) + copy),
        keys_(reinterpret_cast<const uint32_t*>(static_cast<const uint64_t*>(table) +
                                                (size_t{kCopies} << bits)) +
              copy),
        factor_(multiplier << 16),
        bits_(bits) {}
  HOIST_HD SlotFound<Word> find(uint32_t id) const {
    const uint32_t at = slot_of(id, factor_, bits_) * kCopies;
    return {masks_[at], same_id(keys_[at], id)};
  }

 private:
  const uint64_t* masks_;
  const uint32_t* keys_;
  uint32_t factor_;
  uint32_t bits_;
};

template <uint32_t kCopies>
using NarrowTable = KeyedTable<uint32_t, kCopies>;  // up to 16 symbols
template <uint32_t kCopies>
using MediumTable = KeyedTable<uint64_t, kCopies>;  // up to 48

}  // namespace hoist::match
