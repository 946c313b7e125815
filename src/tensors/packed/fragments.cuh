// A tile in the registers of a warp, as mma.m16n8k16 takes it.
#pragma once

#include <cstdint>

#include "tensors/packed/gpu_job.h"
#include "tensors/packed/layout.h"

namespace hoist::tensors::packed {

constexpr uint32_t kPairSignMantissa = uint32_t{kSignMantissa} << 16 | kSignMantissa;
constexpr uint32_t kPairCodes = 0x07800780;

// A lane's part of a tile: words of signs and mantissas, and words of codes.
struct LaneTile {
  uint4 low;    // words 0…3
  uint4 high;   // words 4…7
  uint4 codes;  // of steps 0…3
};

// The lane's first piece of a row block's tile.
__device__ __forceinline__ const uint4* lane_tile(const MatrixJob& matrix, uint32_t block,
                                                  uint32_t tile, uint32_t lane) {
  const uint32_t row_tiles = (matrix.columns + kTileColumns - 1) / kTileColumns;
  return static_cast<const uint4*>(matrix.tiles) +
         (uint64_t{block} * row_tiles + tile) * kTilePieces + lane;
}

// Read once: the tile gives way to others in the caches first.
__device__ __forceinline__ LaneTile load_lane_tile(const uint4* first) {
  return {__ldcs(first), __ldcs(first + kLanes), __ldcs(first + 2 * kLanes)};
}

// Two products of bfloat16, exact here.
__device__ __forceinline__ uint32_t multiply_pair(uint32_t pair, uint32_t factor) {
  uint32_t result;
#if __CUDA_ARCH__ >= 900
  asm("mul.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(pair), "r"(factor));
#else
  constexpr uint32_t kMinusZeros = 0x80008000;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(pair), "r"(factor), "r"(kMinusZeros));
#endif
  return result;
}

__device__ __forceinline__ uint32_t join_pair(uint32_t kept, uint32_t codes, uint32_t factor) {
  return multiply_pair((kept & kPairSignMantissa) | (codes & kPairCodes), factor);
}

__device__ __forceinline__ uint32_t swap_bytes_of_halves(uint32_t word) {
  return __byte_perm(word, 0, 0x2301);
}

// One step's fragment: the pairs of rows g and g + 8, then those two columns further.
struct Fragment {
  uint32_t pairs[4];
};

__device__ __forceinline__ Fragment decode_step(uint32_t kept0, uint32_t kept1, uint32_t codes,
                                                uint32_t factor) {
  return {{join_pair(kept0, codes, factor),
           join_pair(swap_bytes_of_halves(kept0), codes >> 4, factor),
           join_pair(kept1, codes << 4, factor),
           join_pair(swap_bytes_of_halves(kept1), swap_bytes_of_halves(codes), factor)}};
}

}  // namespace hoist::tensors::packed
