// The arithmetic of one interleaved rANS tile, shared by the encoders, the CPU decoders and the
// CUDA kernel. docs/reference/entropy.md tells why it is so; entropy.h is what callers use.
//
// rANS (J. Duda, "Asymmetric numeral systems", 2013) keeps a state x in [2^16, 2^32) and
// renormalises by whole 16-bit words. A code of frequency f of 2^12, whose slots begin at s, is
// written by
//
//   x' = (x / f) * 2^12 + x % f + s      after  "while x >= f * 2^20: emit x % 2^16, x /= 2^16"
//
// and read, last written first read, by looking x % 2^12 up. 32 states take turns (F. Giesen,
// "Interleaved entropy coders", 2014): lane l of a tile is thread l of a warp, or element l of a
// pair of vectors, and all of them take their words from one sequence, in lane order. So a tile
// needs no stream sizes, and the words that a warp reads at one step lie side by side.
//
// A group is 128 symbols, four for each lane: lane l has symbols 4l .. 4l+3, so that each lane
// writes 32 bits and a warp one cache line. A code stands for one symbol (four steps a group) or
// for a pair of neighbours (two steps a group).
//
// The escape code stands for everything without a code of its own. The 16 bits of the value lie in
// the low half of the state itself, and the next word takes their place: no second stream, and the
// state keeps its range. At one step all lanes first finish their codes, then the escaped ones take
// their words, both in lane order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"

namespace hoist::codec {

inline constexpr uint32_t kRansLanes = 32;
inline constexpr uint32_t kRansGroupSymbols = 128;
inline constexpr uint32_t kRansSlotBits = 12;
inline constexpr uint32_t kRansSlots = 1u << kRansSlotBits;
inline constexpr uint32_t kRansWordBits = 16;
inline constexpr uint32_t kRansLowerBound = 1u << kRansWordBits;
inline constexpr uint32_t kRansHeaderBytes = kRansLanes * 4;  // the 32 states before the words
inline constexpr uint32_t kRansNoEscape = 256;

// A step takes at most a word for the code and a word for the escape of each lane.
inline constexpr uint32_t kRansMaxGroupWords = 4 * 2 * kRansLanes;

// One slot of the decode table: bits 20..31 frequency, 8..19 slot minus the code's first slot,
// 0..7 tag. In the encode table the middle field is the code's first slot.
HOIST_HD constexpr uint32_t rans_entry(uint32_t frequency, uint32_t offset, uint32_t tag) {
  return frequency << 20 | offset << 8 | tag;
}
HOIST_HD constexpr uint32_t rans_frequency(uint32_t entry) { return entry >> 20; }
HOIST_HD constexpr uint32_t rans_offset(uint32_t entry) { return entry >> 8 & (kRansSlots - 1); }
HOIST_HD constexpr uint32_t rans_tag(uint32_t entry) { return entry & 0xff; }

// What a decoder looks up, on the CPU and on the GPU. `tag` is the symbol itself where codes are
// single symbols, else the index of the pair in `pairs` (first symbol in the low byte).
struct RansDecodeTable {
  uint32_t slots[kRansSlots];
  uint16_t pairs[256];
  uint32_t escape;  // tag of the escape code; kRansNoEscape: there is none
  uint32_t symbols_per_code;
};

HOIST_HD constexpr uint32_t rans_slot(uint32_t state) { return state & (kRansSlots - 1); }

// The state after a code, before it is renormalised. Any `state` is safe: nothing overflows.
HOIST_HD constexpr uint32_t rans_advance(uint32_t state, uint32_t entry) {
  return rans_frequency(entry) * (state >> kRansSlotBits) + rans_offset(entry);
}
HOIST_HD constexpr bool rans_wants_word(uint32_t state) { return state < kRansLowerBound; }
HOIST_HD constexpr uint32_t rans_push_word(uint32_t state, uint32_t word) {
  return state << kRansWordBits | word;
}

// The escaped value, and the state once `word` has taken its place.
HOIST_HD constexpr uint32_t rans_literal(uint32_t state) { return state & 0xffff; }
HOIST_HD constexpr uint32_t rans_replace_literal(uint32_t state, uint32_t word) {
  return (state & 0xffff0000) | word;
}

// Tiles begin where a GPU can load 16 bytes at once, and are padded with zeros to that.
inline constexpr uint32_t kEntropyTileAlignment = 16;

// Where a tile lies, in the coded bytes and in the decoded symbols.
struct EntropyTile {
  uint64_t offset;        // of its first byte, a multiple of kEntropyTileAlignment
  uint64_t first_symbol;  // a multiple of kRansGroupSymbols
  uint32_t size;          // bytes; equal to `symbols`: stored as they are
  uint32_t symbols;
};

}  // namespace hoist::codec
