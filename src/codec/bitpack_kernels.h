// The inner loops of tile decoding, one set for each instruction set, chosen once at run time.
//
// All work on one whole tile of 1024 values, unaligned memory, and trust their arguments: the
// caller has validated the tile (bitpack_layout.h). Thread-safe: they have no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hoist::codec {

struct TileKernels {
  const char* name;  // "portable", "avx2", "avx512"

  // By width: out[i] = reference + value i of the packed plane (width * 128 bytes), modulo 2^32.
  std::array<void (*)(const std::byte* packed, uint32_t reference, uint32_t* out), 33> unpack;

  // values[i] becomes start + values[0] + … + values[i], modulo 2^32 or 2^64.
  void (*prefix_sum_32)(uint32_t* values, uint32_t start);
  void (*prefix_sum_64)(uint64_t* values, uint64_t start);

  // out[i] = reference + low[i]; and with the upper halves of the values.
  void (*widen)(const uint32_t* low, uint64_t reference, uint64_t* out);
  void (*join)(const uint32_t* low, const uint32_t* high, uint64_t reference, uint64_t* out);

  // Keeps the low bits.
  void (*narrow_8)(const uint32_t* values, uint8_t* out);
  void (*narrow_16)(const uint32_t* values, uint16_t* out);
};

// The fastest set that this processor runs.
const TileKernels& tile_kernels();

// All sets that this processor runs, the portable one first: tests and benchmarks compare them.
std::span<const TileKernels* const> all_tile_kernels();

}  // namespace hoist::codec
