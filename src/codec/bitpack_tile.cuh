// Decoding of one bit-packed tile by one warp, for kernels.
//
// Thread t of a warp owns quad t of every group. It unpacks lane packed_lane(t) into registers,
// with all loads issued at once (the width selects a template instance), 128 bytes a warp and load.
// Prefix sums stay in registers: within a quad, then a warp scan over the quads' sums (Hillis &
// Steele 1986), then a carry from group to group. The quads leave as 16-byte stores. Only patches
// go through shared memory, since they address values by number.
//
// Nothing of the stream is trusted: offsets, headers and positions are checked by the functions
// that the CPU uses (bitpack_layout.h) before they are followed. Each is read into a register once
// and used from there; but a warp takes for granted that its threads have read the same, so the
// stream must not change meanwhile.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "codec/bitpack_layout.h"

namespace hoist::codec {
namespace {

constexpr unsigned kWarpsPerBlock = 4;
constexpr unsigned kBlockThreads = kWarpsPerBlock * kLanes;
constexpr unsigned kAllThreads = 0xffffffffu;

// Blocks a multiprocessor: bounds the registers, so that enough warps hide three dependent loads
// (offset, header, planes).
template <typename Word>
constexpr unsigned kBlocksPerProcessor = sizeof(Word) == 4 ? 6 : 4;

// Blocks of a kernel that decodes `count` values, a warp a tile.
inline unsigned tile_blocks(uint64_t count) {
  const uint64_t tiles = (count + kTileValues - 1) / kTileValues;
  return static_cast<unsigned>((tiles + kWarpsPerBlock - 1) / kWarpsPerBlock);
}

// Four consecutive values: what a thread owns of a group.
template <typename Word>
struct alignas(16) Quad {
  Word values[4];
};

struct Tile {
  const uint8_t* bytes;
  TileHeader header;
  TileParts parts;
};

// Reads and checks a tile's bounds and header; false where they are wrong.
__device__ bool open_tile(const uint8_t* stream, uint64_t size, unsigned value_bytes,
                          uint64_t index, Tile& tile) {
  const auto* const table = reinterpret_cast<const uint32_t*>(stream + sizeof(StreamHeader));
  const uint64_t first = uint64_t{table[index]} * kTileAlignment;
  const uint64_t end = uint64_t{table[index + 1]} * kTileAlignment;
  if (first >= end || end > size) return false;
  tile.bytes = stream + first;
  const auto* const source = reinterpret_cast<const uint4*>(tile.bytes);
  uint4 words[2] = {source[0], {}};
  memcpy(&tile.header, words, sizeof words);
  if (tile.header.mode != static_cast<uint8_t>(TileMode::frame_of_reference)) {
    if (end - first < sizeof(TileHeader)) return false;
    words[1] = source[1];
    memcpy(&tile.header, words, sizeof words);
  }
  if (!valid_tile(tile.header, value_bytes, end - first)) return false;
  tile.parts = tile_parts(static_cast<TileMode>(tile.header.mode), tile.header.width,
                          tile.header.patch_count, tile.header.patch_bytes);
  return true;
}

// Finds the instance for `width`, known to lie in [Low, High], in at most six branches that all
// threads take alike.
template <int Low, int High>
__device__ __forceinline__ void unpack_plane(unsigned width, const uint32_t* plane, unsigned lane,
                                             uint32_t (&rows)[32]) {
  if constexpr (Low == High) {
    unpack_lane<Low>(plane, lane, rows);
  } else {
    constexpr int kMiddle = (Low + High) / 2;
    if (width <= kMiddle) {
      unpack_plane<Low, kMiddle>(width, plane, lane, rows);
    } else {
      unpack_plane<kMiddle + 1, High>(width, plane, lane, rows);
    }
  }
}

__device__ __forceinline__ void unpack(const Tile& tile, unsigned lane,
                                       Quad<uint32_t> (&quads)[kGroups]) {
  const auto* const plane = reinterpret_cast<const uint32_t*>(tile.bytes + tile.parts.planes);
  uint32_t rows[32];
  unpack_plane<0, 32>(tile.header.width, plane, lane, rows);
#pragma unroll
  for (int row = 0; row < 32; ++row) {
    quads[row / 4].values[row % 4] = rows[row] + static_cast<uint32_t>(tile.header.reference);
  }
}

__device__ __forceinline__ void unpack(const Tile& tile, unsigned lane,
                                       Quad<uint64_t> (&quads)[kGroups]) {
  const auto* const plane = reinterpret_cast<const uint32_t*>(tile.bytes + tile.parts.planes);
  const unsigned low_width = min(tile.header.width, 32);
  uint32_t low[32], high[32];
  unpack_plane<0, 32>(low_width, plane, lane, low);
  unpack_plane<0, 32>(tile.header.width - low_width, plane + 32 * kLanes, lane, high);
#pragma unroll
  for (int row = 0; row < 32; ++row) {
    quads[row / 4].values[row % 4] = (uint64_t{high[row]} << 32 | low[row]) + tile.header.reference;
  }
}

// Adds the high parts of the patched values; false where a position is out of place. `staged` is
// the warp's own.
template <typename Word>
__device__ bool apply_patches(const Tile& tile, unsigned thread, Quad<Word>* staged,
                              Quad<Word> (&quads)[kGroups]) {
  for (unsigned group = 0; group < kGroups; ++group) staged[group * kLanes + thread] = quads[group];
  __syncwarp();
  const auto* const positions =
      reinterpret_cast<const uint16_t*>(tile.bytes + tile.parts.positions);
  const uint8_t* const high_parts = tile.bytes + tile.parts.high_parts;
  bool good = true;
  for (unsigned i = thread; i < tile.header.patch_count; i += kLanes) {
    const unsigned position = positions[i];
    const bool rising = i == 0 || positions[i - 1] < position;
    if (!rising || position >= kTileValues) {
      good = false;
      break;
    }
    uint64_t high = 0;
    for (unsigned byte = 0; byte < tile.header.patch_bytes; ++byte) {
      high |= uint64_t{high_parts[i * tile.header.patch_bytes + byte]} << (8 * byte);
    }
    if (tile.header.width < 8 * sizeof(Word)) {
      staged[position / 4].values[position % 4] += static_cast<Word>(high << tile.header.width);
    }
  }
  __syncwarp();
  for (unsigned group = 0; group < kGroups; ++group) quads[group] = staged[group * kLanes + thread];
  return __all_sync(kAllThreads, good);
}

// Inclusive prefix sum over the tile's 1024 values, from `start`.
template <typename Word>
__device__ __forceinline__ void prefix_sum(unsigned thread, Word start,
                                           Quad<Word> (&quads)[kGroups]) {
#pragma unroll
  for (int group = 0; group < kGroups; ++group) {
    Word(&values)[4] = quads[group].values;
    values[1] += values[0];
    values[2] += values[1];
    values[3] += values[2];
    Word sum = values[3];
#pragma unroll
    for (unsigned distance = 1; distance < kLanes; distance *= 2) {
      const Word below = __shfl_up_sync(kAllThreads, sum, distance);
      if (thread >= distance) sum += below;
    }
    const Word before = start + sum - values[3];
    for (Word& value : values) value += before;
    start += __shfl_sync(kAllThreads, sum, kLanes - 1);
  }
}

__device__ __forceinline__ void store_group(unsigned thread, const Quad<uint32_t>& quad,
                                            uint32_t* group) {
  const uint4 four = {quad.values[0], quad.values[1], quad.values[2], quad.values[3]};
  __stcs(reinterpret_cast<uint4*>(group) + thread, four);
}

// Neighbouring threads exchange halves of their quads, so that each store of the warp fills whole
// 32-byte sectors.
__device__ __forceinline__ void store_group(unsigned thread, const Quad<uint64_t>& quad,
                                            uint64_t* group) {
  const bool odd = thread % 2 != 0;
  ulonglong2 received;
  received.x = __shfl_xor_sync(kAllThreads, odd ? quad.values[0] : quad.values[2], 1);
  received.y = __shfl_xor_sync(kAllThreads, odd ? quad.values[1] : quad.values[3], 1);
  const ulonglong2 kept = odd ? make_ulonglong2(quad.values[2], quad.values[3])
                              : make_ulonglong2(quad.values[0], quad.values[1]);
  auto* const pair = reinterpret_cast<ulonglong2*>(group) + thread / 2 * 4 + thread % 2;
  __stcs(pair, odd ? received : kept);
  __stcs(pair + 2, odd ? kept : received);
}

template <typename Word>
__device__ __forceinline__ void store_tile(unsigned thread, uint64_t count,
                                           const Quad<Word> (&quads)[kGroups], Word* out) {
  if (count >= kTileValues) {
#pragma unroll
    for (unsigned group = 0; group < kGroups; ++group) {
      store_group(thread, quads[group], out + group * kGroupValues);
    }
    return;
  }
#pragma unroll
  for (unsigned group = 0; group < kGroups; ++group) {
#pragma unroll
    for (unsigned place = 0; place < 4; ++place) {
      const unsigned index = group * kGroupValues + thread * 4 + place;
      if (index < count) out[index] = quads[group].values[place];
    }
  }
}

// Decodes tile `index` into the warp's registers; false, for all threads alike, where it is
// damaged. `staged` is the warp's own shared memory.
template <typename Word>
__device__ __forceinline__ bool decode_tile(const uint8_t* stream, uint64_t size, uint64_t index,
                                            unsigned thread, Quad<Word>* staged,
                                            Quad<Word> (&quads)[kGroups]) {
  Tile tile;
  if (!open_tile(stream, size, sizeof(Word), index, tile)) return false;
  unpack(tile, packed_lane(thread), quads);
  if (tile.header.patch_count != 0 && !apply_patches(tile, thread, staged, quads)) return false;
  const auto mode = static_cast<TileMode>(tile.header.mode);
  if (mode == TileMode::delta_of_delta) {
    prefix_sum(thread, static_cast<Word>(tile.header.slope), quads);
  }
  if (mode != TileMode::frame_of_reference) {
    prefix_sum(thread, static_cast<Word>(tile.header.start), quads);
  }
  return true;
}

}  // namespace
}  // namespace hoist::codec
