// The block loops under codec/planes.h for each instruction set. For planes.cc and its test.
//
// A kernel handles whole blocks from the start and answers how many elements that were; the caller
// does the rest. An element is 2, 4 or 8 bytes (the index is log2(width) - 1), a bf16 value, or
// eight bytes whose 8x8 bits are transposed, so that plane b holds bit b of each of the eight.
#pragma once

#include <cstddef>
#include <span>

namespace hoist::codec::planes_detail {

using Split = size_t (*)(const std::byte* elements, size_t count, std::byte* const* planes);
using Merge = size_t (*)(const std::byte* const* planes, size_t count, std::byte* elements);

struct Kernels {
  const char* name;
  Split split_bytes[3];
  Merge merge_bytes[3];
  Split split_bits;
  Merge merge_bits;
  Split split_bf16;  // planes: sign and mantissa, exponent
  Merge merge_bf16;
};

// What this processor can run, best first; the last, of 16-byte vectors, is for all processors.
std::span<const Kernels> kernels();

}  // namespace hoist::codec::planes_detail
