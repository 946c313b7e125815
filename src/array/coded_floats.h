// Floats of 4, 6 and 8 bits whose every code is in a table: OCP's microscaling formats
// (MX v1.0: E8M0, E2M1, E2M3, E3M2) and the 8-bit ones without a negative zero (FNUZ).
//
// Codes of fewer than 8 bits follow each other from the lowest bit of the first byte on: two of 4
// bits in a byte, four of 6 bits in three.
#pragma once

#include <cstddef>
#include <span>

#include "array/dtypes.h"

namespace hoist::array {

bool is_coded_float(DType dtype);

// As many codes as there are values. To f32 is exact. From f32 is to the nearest, ties to the even
// code; what is too large becomes the largest number, infinity too. NaN becomes the format's NaN;
// where there is none (F4 and F6), the largest number, as CUDA's conversions have it.
void widen_codes(DType dtype, const std::byte* bytes, std::span<float> values);
void narrow_to_codes(std::span<const float> values, DType dtype, std::byte* bytes);

}  // namespace hoist::array
