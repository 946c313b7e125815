// Numbers of one element type as another: single elements, exactly as IEEE 754 and OCP's 8-bit
// floating point specification say, and the loops under to_f32() and from_f32().
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "array/dtype.h"

namespace hoist::array {

inline float bf16_to_f32(uint16_t value) { return std::bit_cast<float>(uint32_t{value} << 16); }
float f16_to_f32(uint16_t value);
float f8_e5m2_to_f32(uint8_t value);
float f8_e4m3_to_f32(uint8_t value);

// To nearest, ties to even. A NaN stays a quiet one with its sign and upper payload. What is too
// large becomes infinity; e4m3, which has none, saturates, infinity too.
inline uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>((nan ? bits | 0x00400000u : rounded) >> 16);
}
uint16_t f32_to_f16(float value);
uint8_t f32_to_f8_e5m2(float value);
uint8_t f32_to_f8_e4m3(float value);

// `bytes` hold (will hold) as many elements of `dtype` as there are values. Not c64.
void convert_to_f32(DType dtype, const std::byte* bytes, std::span<float> values);
void convert_from_f32(std::span<const float> values, DType dtype, std::byte* bytes);

// Element by element, `values` as long as there are elements; `unsupported` for complex ones.
// Integers beyond a float's precision are rounded, as are f64.
Status to_f32(DType dtype, std::span<const std::byte> bytes, std::span<float> values);
// To nearest, ties to even; integers saturate; f8_e4m3 saturates to its largest finite value.
Status from_f32(std::span<const float> values, DType dtype, std::span<std::byte> bytes);

}  // namespace hoist::array
