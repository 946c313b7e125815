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

// A bfloat16 is sign (bit 15), exponent (14…7), mantissa (6…0). The exponents of trained weights
// carry 2 to 3 bits of information, sign and mantissa nearly all of theirs: only the exponents are
// worth an entropy coder.
constexpr uint8_t bf16_exponent(uint16_t value) { return static_cast<uint8_t>(value >> 7); }
constexpr uint8_t bf16_sign_mantissa(uint16_t value) {
  return static_cast<uint8_t>((value >> 8 & 0x80) | (value & 0x7f));
}
constexpr uint16_t bf16_join(uint8_t exponent, uint8_t sign_mantissa) {
  return static_cast<uint16_t>((sign_mantissa & 0x80) << 8 | exponent << 7 |
                               (sign_mantissa & 0x7f));
}

// `values` holds 2 bytes for each byte of `exponents` and of `sign_mantissa`.
Status split_bf16(std::span<const std::byte> values, std::span<std::byte> exponents,
                  std::span<std::byte> sign_mantissa);
Status merge_bf16(std::span<const std::byte> exponents, std::span<const std::byte> sign_mantissa,
                  std::span<std::byte> values);

}  // namespace hoist::codec
