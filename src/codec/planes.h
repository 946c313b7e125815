// Transforms that lay equal parts of neighbouring values beside one another, so that a coder that
// follows sees runs and narrow distributions. They change no byte's value and lose nothing.
//
//   split_bytes   plane b = byte b of every element:    a0a1 b0b1 c0c1  ->  a0b0c0 a1b1c1
//   split_bits    plane b = bit b of every element, eight elements a byte, the first in bit 0
//   split_bf16    the exponents, and the signs with the mantissas (below)
//
// Each has its inverse, merge_…. Elements are little-endian and need no alignment; all lengths are
// allowed. Input and output must not overlap. Wrong sizes are answered with invalid_argument, and
// nothing is written then; no content is an error. Any thread may call these at any time.
//
// Speed: one pass at about the speed of memory, in blocks of vectors where the processor has them
// (codec/planes_kernels.h), bit planes of wide elements through a tile in the first-level cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "codec/bf16.h"

namespace hoist::codec {

// Byte planes of elements of `width` 2, 4 or 8 bytes, one plane after the other. Both spans have
// the same size; bytes after the last whole element stay where they are, at the end.
Status split_bytes(std::span<const std::byte> elements, size_t width, std::span<std::byte> planes);
Status merge_bytes(std::span<const std::byte> planes, size_t width, std::span<std::byte> elements);

// Bytes of one bit plane.
constexpr size_t bit_plane_bytes(size_t elements) { return elements / 8 + (elements % 8 != 0); }

// Bit planes of elements of `width` 1, 2 or 4 bytes: 8 * width planes of bit_plane_bytes() each,
// plane 0 (the lowest bits) first. `elements` holds whole elements only. The bits after the last
// element are written as zeros and not read.
Status split_bits(std::span<const std::byte> elements, size_t width, std::span<std::byte> planes);
Status merge_bits(std::span<const std::byte> planes, size_t width, std::span<std::byte> elements);

// A bfloat16's exponents and its signs with the mantissas (codec/bf16.h). The exponents of trained
// weights carry 2 to 3 bits of information, sign and mantissa nearly all of theirs: only the
// exponents are worth an entropy coder.
//
// `values` holds 2 bytes for each byte of `exponents` and of `sign_mantissa`.
Status split_bf16(std::span<const std::byte> values, std::span<std::byte> exponents,
                  std::span<std::byte> sign_mantissa);
Status merge_bf16(std::span<const std::byte> exponents, std::span<const std::byte> sign_mantissa,
                  std::span<std::byte> values);

}  // namespace hoist::codec
