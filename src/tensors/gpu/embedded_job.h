// What the host tells the kernels that decode embedded tensors (embedded.cu). Every pointer is the
// device's. Jobs of one launch are of the same kernel: the same width of elements, bytes of planes
// and symbols a code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/rans_format.h"

namespace hoist::tensors {

inline constexpr uint32_t kEmbeddedSpan = 1024;    // elements whose planes a warp merges at a time
inline constexpr uint32_t kEmbeddedWarps = 16;     // of a block, a tile each
inline constexpr uint32_t kEmbeddedMaxSlots = 56;  // of an element's bits that come from planes
inline constexpr uint32_t kEmbeddedPiece = kEmbeddedSpan / 8;  // bytes of a plane read at a time

// Which kernel: the elements' width in bytes, how many of their bytes, from the lowest on, hold
// bits of planes, and symbols a code.
struct EmbeddedKernel {
  uint8_t width;
  uint8_t plane_bytes;  // 1; 2 of f16, 3 of f32, 7 of f64
  uint8_t symbols_per_code;

  friend bool operator==(const EmbeddedKernel&, const EmbeddedKernel&) = default;
};

// A tensor with some of its planes.
struct EmbeddedJob {
  const uint8_t* section;  // codec/entropy.h; aligned to 16 bytes
  uint64_t section_bytes;
  uint64_t elements;       // at least 1
  uint32_t tile_elements;  // a power of two, codec::kMinTileSymbols … kMaxTileSymbols
  uint32_t tiles;
  const codec::RansDecodeTable* table;
  // 256 elements: what a symbol stands for without its sign and the planes that are there.
  const void* bases;
  // The plane of each bit of the lowest `plane_bytes` bytes, aligned to 4 bytes; null where there
  // is none. The signs' plane takes the highest of these bits, and goes from there to the element's
  // highest. A plane is read in whole kEmbeddedPiece bytes: what follows it there must be readable.
  const uint8_t* planes[kEmbeddedMaxSlots];
  uint32_t* tile_at;     // scratch: where each tile begins, in 16-byte pieces of the section
  uint32_t* status;      // kTilesGood, else the first tile that does not decode, or kSectionBad
  void* out;             // `elements` elements, aligned to 16 bytes
  uint32_t first_block;  // blocks of the launch before this job's
};

inline constexpr uint32_t kTilesGood = 0xffffffff;
inline constexpr uint32_t kSectionBad = 0xfffffffe;

constexpr uint32_t embedded_blocks(uint32_t tiles) {
  return (tiles + kEmbeddedWarps - 1) / kEmbeddedWarps;
}

}  // namespace hoist::tensors
