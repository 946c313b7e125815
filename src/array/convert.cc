#include "array/convert.h"

#include <fmt/core.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "array/coded_floats.h"
#include "base/cpu.h"

namespace hoist::array {
namespace {

// A binary floating point format of at most 16 bits: sign, exponent, mantissa.
template <int kExponentBits, int kMantissaBits, bool kHasInfinity>
struct Small {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kDropped = 23 - kMantissaBits;  // mantissa bits that f32 has more
  static constexpr uint32_t kExponentOnes = (1u << kExponentBits) - 1;
  static constexpr uint32_t kSign = 1u << (kExponentBits + kMantissaBits);
  static constexpr uint32_t kMantissaMask = (1u << kMantissaBits) - 1;
  static constexpr uint32_t kInfinity = kExponentOnes << kMantissaBits;
  // Formats without infinity have one NaN, all ones; the largest number is just below it.
  static constexpr uint32_t kNan = kSign - 1;
  static constexpr uint32_t kOverflow = kHasInfinity ? kInfinity : kNan - 1;

  static float widen(uint32_t value) {
    const uint32_t sign = (value & kSign) != 0 ? 0x80000000u : 0;
    const uint32_t magnitude = value & (kSign - 1);
    const uint32_t mantissa = magnitude & kMantissaMask;
    const uint32_t exponent = magnitude >> kMantissaBits;
    if (kHasInfinity ? exponent == kExponentOnes : magnitude == kNan) {
      const uint32_t quiet = mantissa != 0 ? 0x00400000u : 0;
      return std::bit_cast<float>(sign | 0x7f800000u | quiet | mantissa << kDropped);
    }
    if (exponent == 0) {
      // Exact: no mantissa has more bits than f32's, and no exponent is below f32's.
      const float units = static_cast<float>(mantissa);
      const float unit =
          std::bit_cast<float>(static_cast<uint32_t>(128 - kBias - kMantissaBits) << 23);
      return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(units * unit));
    }
    return std::bit_cast<float>(sign | (exponent + 127 - kBias) << 23 | mantissa << kDropped);
  }

  static uint32_t round_shift(uint32_t value, uint32_t shift) {
    const uint32_t odd = value >> shift & 1;
    return (value + (1u << (shift - 1)) - 1 + odd) >> shift;
  }

  static uint32_t narrow(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = bits >> 31 != 0 ? kSign : 0;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
      const uint32_t quiet = 1u << (kMantissaBits - 1);
      return kHasInfinity ? sign | kInfinity | quiet | (magnitude >> kDropped & kMantissaMask)
                          : sign | kNan;
    }
    uint32_t rounded = 0;
    if (magnitude >= static_cast<uint32_t>(128 - kBias) << 23) {
      rounded =
          round_shift(magnitude, kDropped) - (static_cast<uint32_t>(127 - kBias) << kMantissaBits);
    } else if (const uint32_t exponent = magnitude >> 23; exponent != 0) {
      // A subnormal, or what rounds up from there. f32's own subnormals are far below all of them.
      const uint32_t shift = kDropped + static_cast<uint32_t>(128 - kBias) - exponent;
      if (shift <= 24) rounded = round_shift((magnitude & 0x7fffffu) | 0x800000u, shift);
    }
    return sign | std::min(rounded, kOverflow);
  }
};

using F16 = Small<5, 10, true>;
using F8E5M2 = Small<5, 2, true>;
using F8E4M3 = Small<4, 3, false>;

template <typename Format>
std::array<float, 256> table_of() {
  std::array<float, 256> table;
  for (uint32_t i = 0; i < 256; ++i) table[i] = Format::widen(i);
  return table;
}

template <typename T>
T load(const std::byte* from, size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store(T value, std::byte* to, size_t i) {
  std::memcpy(to + i * sizeof(T), &value, sizeof(T));
}

template <typename T, typename Widen>
void widen_all(const std::byte* bytes, std::span<float> values, Widen widen) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = widen(load<T>(bytes, i));
}

template <typename T, typename Narrow>
void narrow_all(std::span<const float> values, std::byte* bytes, Narrow narrow) {
  for (size_t i = 0; i < values.size(); ++i) store<T>(narrow(values[i]), bytes, i);
}

template <typename T>
void cast_all(const std::byte* bytes, std::span<float> values) {
  widen_all<T>(bytes, values, [](T value) { return static_cast<float>(value); });
}

// To nearest, ties to even; 0 for NaN.
template <typename T>
T saturate(float value) {
  using Limits = std::numeric_limits<T>;
  // 2^bits, one more than the largest: that is not a float where T is wide.
  const float above = std::ldexp(1.0f, Limits::digits);
  if (std::isnan(value)) return 0;
  const float rounded = std::nearbyint(value);
  if (rounded >= above) return Limits::max();
  if (rounded < static_cast<float>(Limits::min())) return Limits::min();
  return static_cast<T>(rounded);
}

template <typename T>
void saturate_all(std::span<const float> values, std::byte* bytes) {
  narrow_all<T>(values, bytes, saturate<T>);
}

bool has_f16c() { return cpu_features().avx2; }

__attribute__((target("avx,f16c"))) size_t widen_f16c(const std::byte* bytes,
                                                      std::span<float> values) {
  size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 2 * i));
    _mm256_storeu_ps(values.data() + i, _mm256_cvtph_ps(halves));
  }
  return i;
}

__attribute__((target("avx,f16c"))) size_t narrow_f16c(std::span<const float> values,
                                                       std::byte* bytes) {
  size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(values.data() + i),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + 2 * i), halves);
  }
  return i;
}

void widen_f16(const std::byte* bytes, std::span<float> values) {
  const size_t done = has_f16c() ? widen_f16c(bytes, values) : 0;
  widen_all<uint16_t>(bytes + 2 * done, values.subspan(done), f16_to_f32);
}

void narrow_f16(std::span<const float> values, std::byte* bytes) {
  const size_t done = has_f16c() ? narrow_f16c(values, bytes) : 0;
  narrow_all<uint16_t>(values.subspan(done), bytes + 2 * done, f32_to_f16);
}

Status check_sizes(DType dtype, size_t bytes, size_t values) {
  const DTypeProperties& type = properties(dtype);
  if (type.components > 1) {
    return fail(ErrorCode::unsupported,
                fmt::format("conversion of {} elements: complex has no real value", type.name));
  }
  if (bytes * type.packed == values * type.bytes) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("conversion of {} {} elements ({} bytes): it takes {} bytes", values,
                          type.name, bytes, values * type.bytes / type.packed));
}

}  // namespace

float f16_to_f32(uint16_t value) { return F16::widen(value); }
float f8_e5m2_to_f32(uint8_t value) { return F8E5M2::widen(value); }
float f8_e4m3_to_f32(uint8_t value) { return F8E4M3::widen(value); }

uint16_t f32_to_f16(float value) { return static_cast<uint16_t>(F16::narrow(value)); }
uint8_t f32_to_f8_e5m2(float value) { return static_cast<uint8_t>(F8E5M2::narrow(value)); }
uint8_t f32_to_f8_e4m3(float value) { return static_cast<uint8_t>(F8E4M3::narrow(value)); }

void convert_to_f32(DType dtype, const std::byte* bytes, std::span<float> values) {
  static const std::array<float, 256> e5m2 = table_of<F8E5M2>();
  static const std::array<float, 256> e4m3 = table_of<F8E4M3>();
  switch (dtype) {
    case DType::boolean:
      return widen_all<uint8_t>(bytes, values, [](uint8_t v) { return v != 0 ? 1.0f : 0.0f; });
    case DType::u8:
      return cast_all<uint8_t>(bytes, values);
    case DType::i8:
      return cast_all<int8_t>(bytes, values);
    case DType::f8_e5m2:
      return widen_all<uint8_t>(bytes, values, [](uint8_t v) { return e5m2[v]; });
    case DType::f8_e4m3:
      return widen_all<uint8_t>(bytes, values, [](uint8_t v) { return e4m3[v]; });
    case DType::i16:
      return cast_all<int16_t>(bytes, values);
    case DType::u16:
      return cast_all<uint16_t>(bytes, values);
    case DType::f16:
      return widen_f16(bytes, values);
    case DType::bf16:
      return widen_all<uint16_t>(bytes, values, bf16_to_f32);
    case DType::i32:
      return cast_all<int32_t>(bytes, values);
    case DType::u32:
      return cast_all<uint32_t>(bytes, values);
    case DType::f32:
      if (!values.empty()) std::memcpy(values.data(), bytes, values.size_bytes());
      return;
    case DType::i64:
      return cast_all<int64_t>(bytes, values);
    case DType::u64:
      return cast_all<uint64_t>(bytes, values);
    case DType::f64:
      return cast_all<double>(bytes, values);
    default:  // check_sizes() refused it
      return;
  }
}

void convert_from_f32(std::span<const float> values, DType dtype, std::byte* bytes) {
  switch (dtype) {
    case DType::boolean:
      return narrow_all<uint8_t>(values, bytes, [](float v) -> uint8_t { return v != 0; });
    case DType::u8:
      return saturate_all<uint8_t>(values, bytes);
    case DType::i8:
      return saturate_all<int8_t>(values, bytes);
    case DType::f8_e5m2:
      return narrow_all<uint8_t>(values, bytes, f32_to_f8_e5m2);
    case DType::f8_e4m3:
      return narrow_all<uint8_t>(values, bytes, f32_to_f8_e4m3);
    case DType::i16:
      return saturate_all<int16_t>(values, bytes);
    case DType::u16:
      return saturate_all<uint16_t>(values, bytes);
    case DType::f16:
      return narrow_f16(values, bytes);
    case DType::bf16:
      return narrow_all<uint16_t>(values, bytes, f32_to_bf16);
    case DType::i32:
      return saturate_all<int32_t>(values, bytes);
    case DType::u32:
      return saturate_all<uint32_t>(values, bytes);
    case DType::f32:
      if (!values.empty()) std::memcpy(bytes, values.data(), values.size_bytes());
      return;
    case DType::i64:
      return saturate_all<int64_t>(values, bytes);
    case DType::u64:
      return saturate_all<uint64_t>(values, bytes);
    case DType::f64:
      return narrow_all<double>(values, bytes, [](float v) { return double{v}; });
    default:  // check_sizes() refused it
      return;
  }
}

Status to_f32(DType dtype, std::span<const std::byte> bytes, std::span<float> values) {
  if (Status status = check_sizes(dtype, bytes.size(), values.size()); !status) return status;
  if (is_coded_float(dtype)) {
    widen_codes(dtype, bytes.data(), values);
  } else {
    convert_to_f32(dtype, bytes.data(), values);
  }
  return {};
}

Status from_f32(std::span<const float> values, DType dtype, std::span<std::byte> bytes) {
  if (Status status = check_sizes(dtype, bytes.size(), values.size()); !status) return status;
  if (is_coded_float(dtype)) {
    narrow_to_codes(values, dtype, bytes.data());
  } else {
    convert_from_f32(values, dtype, bytes.data());
  }
  return {};
}

}  // namespace hoist::array
