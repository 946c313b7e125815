// Single elements of one type as another, each rounded once: to nearest, ties to even.
//
// Floats to integers: truncated, saturated, 0 for NaN. Integers to narrower ones wrap.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "array/convert.h"

namespace hoist::graph::program {

// As f32, but what lies between two of them becomes the odd one: rounding that to a type of at most
// 21 bits is rounding the number once (S. Boldo and G. Melquiond, Emulation of FMA and correctly
// rounded sums, 2008).
inline float to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  const double back = nearest;
  if (back == x || std::isnan(x)) return nearest;
  const auto bits = std::bit_cast<uint32_t>(nearest);
  return std::bit_cast<float>((bits - (std::fabs(back) > std::fabs(x) ? 1 : 0)) | 1);
}
inline float to_odd(uint64_t x) {
  const int shift = std::max(0, 40 - std::countl_zero(x));
  const uint64_t rest = x & ((uint64_t{1} << shift) - 1);
  return std::ldexp(static_cast<float>(x >> shift | (rest != 0 ? 1 : 0)), shift);
}
inline float to_odd(int64_t x) {
  const auto bits = static_cast<uint64_t>(x);
  return x < 0 ? -to_odd(0 - bits) : to_odd(bits);
}
inline float to_odd(float x) { return x; }

// A number of f16 or bf16, as f32.
template <typename From>
float rounded_f16(From x) {
  return array::f16_to_f32(array::f32_to_f16(to_odd(x)));
}
template <typename From>
float rounded_bf16(From x) {
  return array::bf16_to_f32(array::f32_to_bf16(to_odd(x)));
}

template <typename To, typename From>
To integer_of(From x) {
  if constexpr (std::is_integral_v<From>) {
    return static_cast<To>(x);
  } else {
    using Limits = std::numeric_limits<To>;
    constexpr From above = static_cast<From>(uint64_t{1} << (Limits::digits - 1)) * 2;
    if (!(x == x)) return 0;
    if (x >= above) return Limits::max();
    if (x <= static_cast<From>(Limits::min())) return Limits::min();
    return static_cast<To>(x);
  }
}

}  // namespace hoist::graph::program
