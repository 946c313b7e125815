#include "array/coded_floats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace hoist::array {
namespace {

struct Format {
  DType dtype;
  int bits;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  int nan;  // its code; -1: none
};

constexpr Format kFormats[] = {
    {DType::f8_e4m3fnuz, 8, 4, 3, 8, 0x80},
    {DType::f8_e5m2fnuz, 8, 5, 2, 16, 0x80},
    {DType::f4, 4, 2, 1, 1, -1},
    {DType::f6_e2m3, 6, 2, 3, 1, -1},
    {DType::f6_e3m2, 6, 3, 2, 3, -1},
    {DType::f8_e8m0, 8, 8, 0, 127, 0xff},
};

bool has_sign(const Format& format) { return format.dtype != DType::f8_e8m0; }

float value_of(const Format& format, uint32_t code) {
  if (static_cast<int>(code) == format.nan) return std::numeric_limits<float>::quiet_NaN();
  if (!has_sign(format)) return std::ldexp(1.0f, static_cast<int>(code) - format.bias);
  const uint32_t magnitude = code & ((1u << (format.bits - 1)) - 1);
  const uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const float fraction = std::ldexp(static_cast<float>(mantissa), -format.mantissa_bits);
  const float size = exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                                   : std::ldexp(1 + fraction, exponent - format.bias);
  return code == magnitude ? size : -size;
}

// All codes of a format, and of those that are not negative the numbers in ascending order.
struct Table {
  explicit Table(const Format& of) : format(of) {
    for (uint32_t code = 0; code < (1u << format.bits); ++code) {
      values.push_back(value_of(format, code));
    }
    const size_t half = has_sign(format) ? values.size() / 2 : values.size();
    for (size_t code = 0; code < half && !std::isnan(values[code]); ++code) ++magnitudes;
  }

  // The code of the magnitude that is nearest.
  uint32_t nearest(float size) const {
    const auto begin = values.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(magnitudes);
    const auto above = std::lower_bound(begin, end, size);
    if (above == end) return static_cast<uint32_t>(magnitudes - 1);
    const auto code = static_cast<uint32_t>(above - begin);
    if (code == 0 || *above == size) return code;
    const double to_above = double{*above} - size;
    const double to_below = double{size} - values[code - 1];
    if (to_above != to_below) return to_above < to_below ? code : code - 1;
    return code % 2 == 0 ? code : code - 1;
  }

  uint32_t code_of(float value) const {
    if (std::isnan(value)) {
      return format.nan >= 0 ? static_cast<uint32_t>(format.nan)
                             : static_cast<uint32_t>(magnitudes - 1);
    }
    // E8M0 has no sign, and nothing that is 0.
    if (!has_sign(format)) return nearest(std::fabs(value));
    const uint32_t code = nearest(std::fabs(value));
    const bool is_negative = std::signbit(value) && (code != 0 || format.nan < 0);
    return is_negative ? code | 1u << (format.bits - 1) : code;
  }

  const Format format;
  std::vector<float> values;  // by code
  size_t magnitudes = 0;
};

const Table& table_of(DType dtype) {
  static const std::vector<Table>* const tables = [] {
    auto* const made = new std::vector<Table>;  // static destructors may convert
    for (const Format& format : kFormats) made->emplace_back(format);
    return made;
  }();
  return *std::find_if(tables->begin(), tables->end(),
                       [&](const Table& table) { return table.format.dtype == dtype; });
}

}  // namespace

bool is_coded_float(DType dtype) {
  return std::any_of(std::begin(kFormats), std::end(kFormats),
                     [&](const Format& format) { return format.dtype == dtype; });
}

void widen_codes(DType dtype, const std::byte* bytes, std::span<float> values) {
  const Table& table = table_of(dtype);
  const auto bits = static_cast<uint32_t>(table.format.bits);
  uint32_t held = 0;
  uint32_t count = 0;  // of bits that are held
  for (float& value : values) {
    if (count < bits) {
      held |= std::to_integer<uint32_t>(*bytes++) << count;
      count += 8;
    }
    value = table.values[held & ((1u << bits) - 1)];
    held >>= bits;
    count -= bits;
  }
}

void narrow_to_codes(std::span<const float> values, DType dtype, std::byte* bytes) {
  const Table& table = table_of(dtype);
  const auto bits = static_cast<uint32_t>(table.format.bits);
  uint32_t held = 0;
  uint32_t count = 0;
  for (const float value : values) {
    held |= table.code_of(value) << count;
    count += bits;
    if (count >= 8) {
      *bytes++ = static_cast<std::byte>(held & 0xff);
      held >>= 8;
      count -= 8;
    }
  }
}

}  // namespace hoist::array
