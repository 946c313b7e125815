// The bytes of a bit-packed stream, defined once for CPU and GPU code. docs/reference/bitpacking.md
// draws them.
//
// A tile holds 1024 values. Value i lies in group i / 128, quad i / 4 % 32 and place i % 4. A plane
// packs one residual of `width` <= 32 bits per value into 32 lanes of 32 rows: lane
// packed_lane(quad), row 4 * group + place. A lane is a little-endian bit string of 32 * width
// bits, row after row; word w of lane l is the 32-bit word w * 32 + l of the plane. So
//  - a vector of neighbouring words holds the same bits of neighbouring lanes: every lane is
//  unpacked
//    by the same shifts and masks (FastLanes' interleaving, Afroozeh & Boncz, VLDB 2023);
//  - a GPU thread that unpacks one lane owns four consecutive values a group: it writes 16 bytes at
//    once, and a prefix sum over a group costs the warp 5 shuffles for 128 values, not for 32;
//  - packed_lane() permutes the lanes so that vectors of 4, 8 and 16 lanes alike become consecutive
//    values by a 4 x 4 transposition inside 128-bit blocks.
// Residuals of 33 to 64 bits are two planes, the lower 32 bits first: one set of kernels serves all
// types. All arithmetic is modulo 2^bits of the value type, which makes one format serve signed and
// unsigned values, and lets residuals wrap around the reference.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hoist::codec {

inline constexpr unsigned kTileValues = 1024;
inline constexpr unsigned kLanes = 32;
inline constexpr unsigned kGroups = 8;
inline constexpr unsigned kGroupValues = kTileValues / kGroups;
inline constexpr unsigned kWordRowBytes = kLanes * 4;  // one word of every lane

// The unit of all offsets and sizes: tiles start at multiples of it from the stream's start.
inline constexpr unsigned kTileAlignment = 16;

// Kernels report the least index of a damaged tile; this where there is none.
inline constexpr uint32_t kNoBadTile = UINT32_MAX;

enum class TileMode : uint8_t {
  frame_of_reference = 0,  // value = residual + reference
  delta = 1,               // difference to the value before = residual + reference
  delta_of_delta = 2,      // difference of neighbouring differences = residual + reference
};

// Stream: this header, the offset table, the tiles. The table has tile_count + 1 32-bit entries, in
// units of 16 bytes from the stream's start, the last one the stream's end; zero bytes pad it
// to 16.
struct StreamHeader {
  uint8_t magic[2];  // "BP"
  uint8_t version;   // 0
  uint8_t value_bytes;
  uint32_t zero;
  uint64_t count;
};
static_assert(sizeof(StreamHeader) == 16);

// A tile's head: 16 bytes, and two more words in the delta modes. The planes follow, then the
// patches' positions (16 bits each, rising), their high parts (patch_bytes each), and zero bytes up
// to 16.
struct TileHeader {
  uint8_t mode;
  uint8_t width;
  uint16_t patch_count;
  uint8_t patch_bytes;  // 1, 2, 4 or 8; 0 without patches
  uint8_t zero[3];
  uint64_t reference;
  uint64_t start;  // delta modes: the value before the first
  uint64_t slope;  // delta of delta: the difference before the first
};
static_assert(sizeof(TileHeader) == 32);

// Where a tile's parts lie, in bytes from its start.
struct TileParts {
  uint32_t planes;
  uint32_t positions;
  uint32_t high_parts;
  uint32_t end;  // before the padding
  uint32_t size;
};

HOIST_HD constexpr uint32_t tile_header_size(TileMode mode) {
  return mode == TileMode::frame_of_reference ? 16 : 32;
}

HOIST_HD constexpr uint32_t align_tile(uint32_t size) {
  return (size + kTileAlignment - 1) & ~(kTileAlignment - 1);
}

HOIST_HD constexpr TileParts tile_parts(TileMode mode, unsigned width, unsigned patch_count,
                                        unsigned patch_bytes) {
  const uint32_t planes = tile_header_size(mode);
  const uint32_t positions = planes + width * kWordRowBytes;
  const uint32_t high_parts = positions + patch_count * 2;
  const uint32_t end = high_parts + patch_count * patch_bytes;
  return {planes, positions, high_parts, end, align_tile(end)};
}

HOIST_HD constexpr uint64_t low_bits(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

// Whether a header read from untrusted bytes describes exactly a tile of `size` bytes of values of
// `value_bytes`. Where it does, every part lies inside the tile; only the patches' positions remain
// to be checked. Fields that lie beyond a short header must be given as zero.
HOIST_HD constexpr bool valid_tile(const TileHeader& header, unsigned value_bytes, uint64_t size) {
  const unsigned value_bits = 8 * value_bytes;
  if (header.mode > 2 || header.width > value_bits || header.patch_count > kTileValues)
    return false;
  if ((header.zero[0] | header.zero[1] | header.zero[2]) != 0) return false;
  const unsigned bytes = header.patch_bytes;
  if (bytes > value_bytes || (bytes & (bytes - 1)) != 0) return false;
  if ((bytes == 0) != (header.patch_count == 0)) return false;
  if (((header.reference | header.start | header.slope) & ~low_bits(value_bits)) != 0) return false;
  const auto mode = static_cast<TileMode>(header.mode);
  if (mode == TileMode::delta && header.slope != 0) return false;
  return tile_parts(mode, header.width, header.patch_count, bytes).size == size;
}

// The lane that packs a quad, and its own inverse: the two base-4 digits of quad % 16 swap places.
HOIST_HD constexpr unsigned packed_lane(unsigned quad) {
  return (quad & 16) | (quad & 3) << 2 | (quad >> 2 & 3);
}

// The value that is row `row` of lane `lane`.
HOIST_HD constexpr unsigned value_index(unsigned lane, unsigned row) {
  return row / 4 * kGroupValues + packed_lane(lane) * 4 + row % 4;
}

// All 32 residuals of one lane of a plane of `Width` bits: what one GPU thread unpacks.
template <int Width>
HOIST_HD inline void unpack_lane(const uint32_t* plane, unsigned lane, uint32_t (&rows)[32]) {
  if constexpr (Width == 0) {
    for (uint32_t& row : rows) row = 0;
  } else {
    uint32_t words[Width];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int w = 0; w < Width; ++w) words[w] = plane[w * kLanes + lane];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int row = 0; row < 32; ++row) {
      const int word = row * Width / 32;
      const int shift = row * Width % 32;
      uint32_t value = words[word] >> shift;
      if (shift + Width > 32) value |= words[word + 1] << ((32 - shift) % 32);
      rows[row] = value & static_cast<uint32_t>(low_bits(Width));
    }
  }
}

}  // namespace hoist::codec
