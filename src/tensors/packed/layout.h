// The packed form of a bfloat16 matrix: 12 bits a weight, exact, and laid out so that a warp of a
// GPU decodes a tile straight into the fragments of mma.m16n8k16. docs/reference/packed.md tells
// the form byte by byte; this header is what CPU and GPU code share of it.
//
// Rows lie in blocks of 16, columns in blocks of 64; both are padded with +0. A row block has a
// base b in 0…127: a weight whose exponent field e has b < e <= b + 15 has the code e - b, of 4
// bits. Zeros have the code 0. What else there is, an escape, lies in a list of its row.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hoist::tensors::packed {

inline constexpr uint32_t kTileRows = 16;
inline constexpr uint32_t kTileColumns = 64;
inline constexpr uint32_t kTileBytes = kTileRows * kTileColumns * 3 / 2;
inline constexpr uint32_t kLanes = 32;
// 16-byte pieces of a tile: two of signs and mantissas and one of codes for each lane.
inline constexpr uint32_t kTilePieces = kTileBytes / 16;
// Bytes at which a tile's codes begin.
inline constexpr uint32_t kCodesOffset = kTileRows * kTileColumns;

inline constexpr uint32_t kCodes = 15;
inline constexpr uint32_t kLargestBase = 127;

inline constexpr uint16_t kSignMantissa = 0x807f;
inline constexpr uint16_t kMagnitude = 0x7fff;

HOIST_HD constexpr uint32_t exponent_of(uint16_t weight) { return weight >> 7 & 0xff; }

// 1…15, or 0 for a zero and for an escape.
HOIST_HD constexpr uint32_t code_of(uint16_t weight, uint32_t base) {
  const uint32_t code = exponent_of(weight) - base;
  return code - 1 < kCodes ? code : 0;
}

HOIST_HD constexpr bool is_escape(uint16_t weight, uint32_t base) {
  return (weight & kMagnitude) != 0 && code_of(weight, base) == 0;
}

// What a tile holds in the weight's place beside its code.
HOIST_HD constexpr uint16_t kept_of(uint16_t weight, uint32_t base) {
  if (is_escape(weight, base)) return 0;
  return weight & kSignMantissa;
}

HOIST_HD constexpr uint16_t weight_of(uint16_t kept, uint32_t code, uint32_t base) {
  return static_cast<uint16_t>(kept | (code == 0 ? 0 : (code + base) << 7));
}

// A row block's factor: 2^b as a bfloat16, twice. A place's sign, code and mantissa, read as a
// bfloat16, times it is the weight.
HOIST_HD constexpr uint32_t factor_of(uint32_t base) {
  return (base + 127) << 7 | (base + 127) << 23;
}
HOIST_HD constexpr uint32_t base_of(uint32_t factor) { return (factor >> 7 & 0xff) - 127; }
HOIST_HD constexpr bool is_factor(uint32_t factor) {
  return base_of(factor) <= kLargestBase && factor == factor_of(base_of(factor));
}

// Two bytes of one half-word change places: how the odd rows' signs and mantissas lie.
HOIST_HD constexpr uint16_t swap_bytes(uint16_t half) {
  return static_cast<uint16_t>(half << 8 | half >> 8);
}

// The codes of four weights in a half-word: rows g and g + 8 of one column, then of the column two
// further.
HOIST_HD constexpr uint16_t join_codes(uint32_t n0, uint32_t n1, uint32_t n2, uint32_t n3) {
  return static_cast<uint16_t>(n0 << 7 | n1 << 11 | n2 << 3 | n3 << 15 | n3 >> 1);
}
HOIST_HD constexpr uint32_t code_at(uint16_t codes, uint32_t which) {
  switch (which) {
    case 0:
      return codes >> 7 & 15;
    case 1:
      return codes >> 11 & 15;
    case 2:
      return codes >> 3 & 15;
    default:
      return (codes << 1 & 14) | codes >> 15;
  }
}

// Where a weight of a tile lies: the half-word of its sign and mantissa, and that of its code, both
// counted from the tile's begin, and which of the four codes it is.
struct Place {
  uint32_t kept;
  bool is_swapped;
  uint32_t codes;
  uint32_t which;
};

HOIST_HD constexpr Place place_of(uint32_t row, uint32_t column) {
  const uint32_t lane = row % 8 * 4 + column % 32 / 8;
  const uint32_t word = column / 32 * 4 + column % 8 / 2;  // of the lane's eight
  const uint32_t half = column % 2;
  const uint32_t r = row / 8 + word % 2 * 2;
  return {(word / 4 * kLanes * 4 + lane * 4 + word % 4) * 2 + half, row >= 8,
          kCodesOffset / 2 + (lane * 4 + word / 2) * 2 + half, r};
}

// The weight at a place of a tile, +0 for an escape.
HOIST_HD constexpr uint16_t weight_at(const uint16_t* tile, uint32_t base, uint32_t row,
                                      uint32_t column) {
  const Place place = place_of(row, column);
  const uint16_t kept = place.is_swapped ? swap_bytes(tile[place.kept]) : tile[place.kept];
  return weight_of(kept & kSignMantissa, code_at(tile[place.codes], place.which), base);
}

struct Escape {
  uint32_t column;
  uint32_t bits;  // of the bfloat16
};

}  // namespace hoist::tensors::packed
