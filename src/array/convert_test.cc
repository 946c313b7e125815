#include "array/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/test_seed.h"

namespace hoist::array {
namespace {

// A small floating point format by its definition, in double.
struct Definition {
  DType dtype;
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint32_t magnitudes() const { return 1u << (bits() - 1); }

  double magnitude(uint32_t pattern) const {
    const int mantissa = static_cast<int>(pattern % (1u << mantissa_bits));
    const int exponent = static_cast<int>(pattern >> mantissa_bits);
    const bool top = exponent == (1 << exponent_bits) - 1;
    if (top && has_infinity) return mantissa == 0 ? INFINITY : NAN;
    if (pattern + 1 == magnitudes()) return NAN;
    const double fraction = std::ldexp(mantissa, -mantissa_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias())
                         : std::ldexp(1 + fraction, exponent - bias());
  }

  // The bits of the magnitude nearest to a finite value, found by comparing neighbours.
  uint32_t nearest(double value) const {
    uint32_t low = 0;
    uint32_t high = magnitudes() - 1;
    while (!std::isfinite(magnitude(high))) --high;
    const uint32_t largest = high;
    // One step more than the largest would be, were there one, is where rounding overflows.
    const double ulp = magnitude(largest) - magnitude(largest - 1);
    if (value >= magnitude(largest) + ulp / 2) return has_infinity ? largest + 1 : largest;
    while (low < high) {
      const uint32_t middle = (low + high + 1) / 2;
      if (magnitude(middle) <= value) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    if (low == largest) return largest;
    const double below = value - magnitude(low);
    const double above = magnitude(low + 1) - value;
    if (below == above) return low % 2 == 0 ? low : low + 1;
    return below < above ? low : low + 1;
  }
};

constexpr Definition kSmall[] = {{DType::f16, 5, 10, true},
                                 {DType::bf16, 8, 7, true},
                                 {DType::f8_e5m2, 5, 2, true},
                                 {DType::f8_e4m3, 4, 3, false}};

uint32_t pattern_at(const Definition& type, const std::vector<std::byte>& bytes, size_t i) {
  uint32_t pattern = 0;
  const size_t width = static_cast<size_t>(type.bits()) / 8;
  std::memcpy(&pattern, bytes.data() + i * width, width);
  return pattern;
}

TEST(SmallFloats, EveryPatternWidens) {
  for (const Definition& type : kSmall) {
    const size_t width = static_cast<size_t>(type.bits()) / 8;
    const uint32_t count = 2 * type.magnitudes();
    std::vector<std::byte> bytes(count * width);
    for (uint32_t i = 0; i < count; ++i) std::memcpy(&bytes[i * width], &i, width);
    std::vector<float> values(count);
    ASSERT_TRUE(to_f32(type.dtype, bytes, values));
    for (uint32_t i = 0; i < count; ++i) {
      const double magnitude = type.magnitude(i % type.magnitudes());
      ASSERT_EQ(std::signbit(values[i]), i >= type.magnitudes()) << i;
      if (std::isnan(magnitude)) {
        ASSERT_TRUE(std::isnan(values[i])) << i;
      } else {
        ASSERT_EQ(static_cast<double>(std::fabs(values[i])), magnitude) << i;
      }
    }
    // And back: every number is its own nearest, and NaN is NaN.
    std::vector<std::byte> back(bytes.size());
    ASSERT_TRUE(from_f32(values, type.dtype, back));
    for (uint32_t i = 0; i < count; ++i) {
      if (std::isnan(values[i])) {
        ASSERT_TRUE(std::isnan(type.magnitude(pattern_at(type, back, i) % type.magnitudes())));
        ASSERT_EQ(pattern_at(type, back, i) >= type.magnitudes(), i >= type.magnitudes()) << i;
      } else if (std::isinf(values[i]) || type.dtype != DType::f8_e4m3) {
        ASSERT_EQ(pattern_at(type, back, i), i);
      }
    }
  }
}

std::vector<float> values_around(const Definition& type, std::mt19937_64& random) {
  std::vector<float> values = {0.0f, -0.0f, std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::min(),
                               std::numeric_limits<float>::max()};
  for (uint32_t i = 0; i < type.magnitudes(); ++i) {
    const float here = static_cast<float>(type.magnitude(i));
    if (!std::isfinite(here)) continue;
    const float next = static_cast<float>(type.magnitude(i + 1));
    const float middle = std::isfinite(next) ? here + (next - here) / 2 : here * 1.0001f;
    for (const float value : {here, middle}) {
      values.push_back(value);
      values.push_back(-std::nextafter(value, 0.0f));
      values.push_back(std::nextafter(value, INFINITY));
    }
  }
  for (int i = 0; i < 20000; ++i) {
    const float any = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(any)) values.push_back(any);
  }
  return values;
}

TEST(SmallFloats, NarrowToTheNearest) {
  std::mt19937_64 random(test_seed());
  for (const Definition& type : kSmall) {
    const size_t width = static_cast<size_t>(type.bits()) / 8;
    const std::vector<float> values = values_around(type, random);
    std::vector<std::byte> bytes(values.size() * width);
    ASSERT_TRUE(from_f32(values, type.dtype, bytes));
    for (size_t i = 0; i < values.size(); ++i) {
      const uint32_t sign = std::signbit(values[i]) ? type.magnitudes() : 0;
      ASSERT_EQ(pattern_at(type, bytes, i), sign | type.nearest(std::fabs(double{values[i]})))
          << properties(type.dtype).name << " " << values[i];
    }
  }
}

TEST(SmallFloats, InfinityAndNan) {
  EXPECT_EQ(f32_to_f16(INFINITY), 0x7c00);
  EXPECT_EQ(f32_to_bf16(-INFINITY), 0xff80);
  EXPECT_EQ(f32_to_f8_e5m2(INFINITY), 0x7c);
  EXPECT_EQ(f32_to_f8_e4m3(-INFINITY), 0xfe);
  EXPECT_EQ(f32_to_f8_e4m3(-NAN), 0xff);
  // Payloads keep their upper bits and become quiet.
  EXPECT_EQ(f32_to_f16(std::bit_cast<float>(0xff812345u)), 0xfe09);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x7f800001u)), 0x7fc0);
}

// The vector loops are the scalar functions, whatever the length and alignment.
TEST(SmallFloats, ArraysAreTheirElements) {
  std::mt19937_64 random(test_seed());
  for (size_t count = 0; count < 40; ++count) {
    std::vector<float> values(count);
    for (float& value : values) value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    std::vector<std::byte> bytes(2 * count + 1);
    ASSERT_TRUE(from_f32(values, DType::f16, std::span(bytes).subspan(1)));
    std::vector<float> back(count);
    ASSERT_TRUE(to_f32(DType::f16, std::span(bytes).subspan(1), back));
    for (size_t i = 0; i < count; ++i) {
      uint16_t pattern;
      std::memcpy(&pattern, &bytes[1 + 2 * i], 2);
      EXPECT_EQ(pattern, f32_to_f16(values[i]));
      EXPECT_EQ(std::bit_cast<uint32_t>(back[i]), std::bit_cast<uint32_t>(f16_to_f32(pattern)));
    }
  }
}

template <typename T>
void expect_integers(DType dtype) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> integers = {0, 1, 2, 100, Limits::min(), Limits::max()};
  std::vector<float> values(integers.size());
  ASSERT_TRUE(to_f32(dtype, std::as_bytes(std::span(integers)), values));
  for (size_t i = 0; i < integers.size(); ++i) {
    EXPECT_EQ(values[i], static_cast<float>(integers[i]));
  }
  const std::vector<float> wanted = {0.5f, 1.5f, 2.5f, 1e30f, -1e30f, NAN, INFINITY, -INFINITY};
  std::vector<T> got(wanted.size());
  ASSERT_TRUE(from_f32(wanted, dtype, std::as_writable_bytes(std::span(got))));
  EXPECT_EQ(got, (std::vector<T>{0, 2, 2, Limits::max(), Limits::min(), 0, Limits::max(),
                                 Limits::min()}));
}

// Formats by their tables. Each number is its own nearest; what lies between two goes to the
// nearer.
TEST(CodedFloats, EveryCodeAndEveryMiddle) {
  for (const DType dtype : {DType::f8_e8m0, DType::f8_e4m3fnuz, DType::f8_e5m2fnuz, DType::f4,
                            DType::f6_e2m3, DType::f6_e3m2}) {
    const DTypeProperties& type = properties(dtype);
    SCOPED_TRACE(type.name);
    const size_t bits = 8 * type.bytes / type.packed;
    const size_t count = size_t{1} << bits;
    std::vector<std::byte> bytes(count * bits / 8);
    for (size_t code = 0; code < count; ++code) {
      for (size_t bit = 0; bit < bits; ++bit) {
        const size_t at = code * bits + bit;
        if ((code >> bit & 1) != 0) bytes[at / 8] |= std::byte{1} << at % 8;
      }
    }
    std::vector<float> values(count);
    ASSERT_TRUE(to_f32(dtype, bytes, values));
    std::vector<std::byte> back(bytes.size());
    ASSERT_TRUE(from_f32(values, dtype, back));
    EXPECT_EQ(back, bytes);
    for (const float wrong : {1e38f, INFINITY}) {  // 1e38 fits E8M0 alone
      std::vector<float> many(count, wrong);
      ASSERT_TRUE(from_f32(many, dtype, back));
      ASSERT_TRUE(to_f32(dtype, back, many));
      float largest = 0;
      for (const float value : values) largest = std::max(largest, value);
      if (dtype != DType::f8_e8m0 || std::isinf(wrong)) {
        EXPECT_EQ(many[0], largest);
      }
    }
    std::vector<float> sorted;
    for (const float value : values) {
      if (value >= 0 && !std::signbit(value)) sorted.push_back(value);
    }
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i + 1 < sorted.size(); ++i) {
      const float middle = sorted[i] + (sorted[i + 1] - sorted[i]) / 2;
      std::vector<float> four = {std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY),
                                 middle, sorted[i]};
      std::vector<std::byte> narrow(4 * bits / 8);
      ASSERT_TRUE(from_f32(four, dtype, narrow));
      ASSERT_TRUE(to_f32(dtype, narrow, four));
      EXPECT_EQ(four[0], sorted[i]);
      EXPECT_EQ(four[1], sorted[i + 1]);
      EXPECT_EQ(four[2], sorted[i + i % 2]) << middle;  // codes ascend as numbers do
    }
  }
}

// From the standards themselves.
TEST(CodedFloats, NumbersOfTheStandards) {
  const auto value = [](DType dtype, std::vector<std::byte> bytes) {
    std::vector<float> values(bytes.size() * properties(dtype).packed / properties(dtype).bytes);
    EXPECT_TRUE(to_f32(dtype, bytes, values));
    return values;
  };
  EXPECT_EQ(value(DType::f4, {std::byte{0x72}}), (std::vector<float>{1, 6}));  // OCP MX: max 6
  EXPECT_EQ(value(DType::f4, {std::byte{0x91}}), (std::vector<float>{0.5f, -0.5f}));
  EXPECT_EQ(value(DType::f6_e2m3, {std::byte{31}, std::byte{0}, std::byte{0}})[0], 7.5f);
  EXPECT_EQ(value(DType::f6_e3m2, {std::byte{31}, std::byte{0}, std::byte{0}})[0], 28.0f);
  EXPECT_EQ(value(DType::f8_e8m0, {std::byte{127}})[0], 1.0f);
  EXPECT_EQ(value(DType::f8_e8m0, {std::byte{0}})[0], std::ldexp(1.0f, -127));
  EXPECT_TRUE(std::isnan(value(DType::f8_e8m0, {std::byte{255}})[0]));
  EXPECT_EQ(value(DType::f8_e4m3fnuz, {std::byte{0x7f}})[0], 240.0f);
  EXPECT_EQ(value(DType::f8_e5m2fnuz, {std::byte{0x7f}})[0], 57344.0f);
  EXPECT_TRUE(std::isnan(value(DType::f8_e4m3fnuz, {std::byte{0x80}})[0]));
}

TEST(Integers, RoundAndSaturate) {
  expect_integers<int8_t>(DType::i8);
  expect_integers<uint8_t>(DType::u8);
  expect_integers<int16_t>(DType::i16);
  expect_integers<uint16_t>(DType::u16);
  expect_integers<int32_t>(DType::i32);
  expect_integers<uint32_t>(DType::u32);
  expect_integers<int64_t>(DType::i64);
  expect_integers<uint64_t>(DType::u64);
}

TEST(Conversion, OtherTypesAndSizes) {
  const std::vector<double> doubles = {1.5, 1e300, -0.0};
  std::vector<float> values(3);
  ASSERT_TRUE(to_f32(DType::f64, std::as_bytes(std::span(doubles)), values));
  EXPECT_EQ(values, (std::vector<float>{1.5f, INFINITY, -0.0f}));
  std::vector<std::byte> bytes(3);
  ASSERT_TRUE(from_f32(values, DType::boolean, bytes));
  EXPECT_EQ(bytes, (std::vector<std::byte>{std::byte{1}, std::byte{1}, std::byte{0}}));
  EXPECT_EQ(to_f32(DType::c64, bytes, values).error().code, ErrorCode::unsupported);
  EXPECT_EQ(to_f32(DType::c128, bytes, values).error().code, ErrorCode::unsupported);
  EXPECT_EQ(from_f32(values, DType::f4, {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(to_f32(DType::f16, bytes, values).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(from_f32(values, DType::i64, bytes).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hoist::array
