// BLAKE3's compression function, one block at a time and for many inputs side by side. For
// base/blake3.cc and its test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hoist::blake3_detail {

// Section 2.2, table 3.
inline constexpr uint32_t kChunkStart = 1;
inline constexpr uint32_t kChunkEnd = 2;
inline constexpr uint32_t kParent = 4;
inline constexpr uint32_t kRoot = 8;

inline constexpr size_t kBlockBytes = 64;
inline constexpr uint32_t kInitial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// Replaces the chaining value by the first eight words of the output.
void compress(uint32_t chaining[8], const uint8_t block[kBlockBytes], uint32_t block_bytes,
              uint64_t counter, uint32_t flags);

// Inputs of equal length that follow one another in memory, all of full blocks: chunks, or the
// pairs of chaining values that parents are made from.
struct Inputs {
  const uint8_t* data;
  size_t blocks;          // of one input
  uint64_t counter;       // of the first input
  uint32_t counter_step;  // from one input to the next: 1 for chunks, 0 for parents
  uint32_t flags;         // of all blocks
  uint32_t first_flags;   // of the first block of each, besides
  uint32_t last_flags;    // of the last
};

// Compresses `lanes` inputs at once; chaining value i goes to out[8 * i].
struct Kernel {
  const char* name;
  size_t lanes;
  void (*run)(const Inputs& inputs, uint32_t* out);
};

// What this processor can run, widest first, down to one lane.
std::span<const Kernel> kernels();

}  // namespace hoist::blake3_detail
