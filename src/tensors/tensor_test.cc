#include "tensors/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/test_seed.h"
#include "tensors/convert.h"
#include "tensors/quality_curve.h"

namespace hoist::tensors {
namespace {

TEST(DType, NamesAndNumbersFindTheSame) {
  for (int number = 0; number < 23; ++number) {
    const DTypeProperties* const type = find_dtype(static_cast<uint8_t>(number));
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(static_cast<int>(type->dtype), number);
    EXPECT_EQ(find_dtype(type->name), type);
    EXPECT_EQ(&properties(type->dtype), type);
  }
  EXPECT_EQ(find_dtype(uint8_t{23}), nullptr);
  EXPECT_EQ(find_dtype(uint8_t{255}), nullptr);
  EXPECT_EQ(find_dtype("bf16"), nullptr);
  EXPECT_EQ(find_dtype("BF16")->bytes, 2u);
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(element_count({}).value(), 1u);
  EXPECT_EQ(element_count(Shape{3, 5, 7}).value(), 105u);
  EXPECT_EQ(element_count(Shape{uint64_t{1} << 40, 0, uint64_t{1} << 40}).value(), 0u);
  EXPECT_EQ(element_count(Shape{(uint64_t{1} << 60) - 1}).value(), (uint64_t{1} << 60) - 1);
  EXPECT_FALSE(element_count(Shape{uint64_t{1} << 60}));
  EXPECT_FALSE(element_count(Shape{uint64_t{1} << 32, uint64_t{1} << 32}));
  EXPECT_FALSE(element_count(Shape{~uint64_t{0}, ~uint64_t{0}}));
}

TEST(Shape, CountsBytes) {
  EXPECT_EQ(byte_count(DType::f64, {}).value(), 8u);
  EXPECT_EQ(byte_count(DType::bf16, Shape{3, 5, 7}).value(), 210u);
  EXPECT_EQ(byte_count(DType::f8_e8m0, Shape{7}).value(), 7u);
  EXPECT_EQ(byte_count(DType::f4, Shape{3, 6}).value(), 9u);
  EXPECT_EQ(byte_count(DType::f6_e2m3, Shape{2, 2}).value(), 3u);
  EXPECT_EQ(byte_count(DType::f6_e3m2, Shape{5, 0}).value(), 0u);
  EXPECT_EQ(byte_count(DType::c64, Shape{(uint64_t{1} << 60) - 1}).value(),
            ((uint64_t{1} << 60) - 1) * 8);
  for (const uint64_t count : {1, 2, 3, 5, 6, 7}) {
    EXPECT_FALSE(byte_count(DType::f6_e2m3, Shape{count}));
    EXPECT_FALSE(byte_count(DType::f6_e3m2, Shape{count}));
    EXPECT_EQ(byte_count(DType::f4, Shape{count}).has_value(), count % 2 == 0);
  }
  EXPECT_FALSE(byte_count(DType::u8, Shape{uint64_t{1} << 60}));
}

TEST(Shape, IsAMatrix) {
  const auto expect = [](const Shape& shape, uint64_t rows, uint64_t columns) {
    EXPECT_EQ(matrix_shape(shape).rows, rows);
    EXPECT_EQ(matrix_shape(shape).columns, columns);
  };
  expect({}, 1, 1);
  expect({9}, 1, 9);
  expect({4, 5}, 4, 5);
  expect({4, 5, 6, 7}, 4, 210);
}

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

  // Of a finite magnitude, by looking at the neighbours.
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
  EXPECT_EQ(to_f32(DType::f8_e8m0, bytes, values).error().code, ErrorCode::unsupported);
  EXPECT_EQ(from_f32(values, DType::f4, {}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(to_f32(DType::f16, bytes, values).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(from_f32(values, DType::i64, bytes).error().code, ErrorCode::invalid_argument);
}

TEST(QualityCurve, PrefixesEndAtTheFirstGap) {
  QualityCurve curve;
  curve.prefixes = {{0.9, 0.95}, {0.98, 0.99}, {1, 1}};
  EXPECT_EQ(curve.quality({}), 0);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1, 2}), 0);
  EXPECT_EQ(curve.quality(std::vector<size_t>{2, 0}), 0.9);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1, 0, 7}), 0.98);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1, 0, 2}), 1);
  EXPECT_EQ(curve.parts_for(0.5), 1u);
  EXPECT_EQ(curve.parts_for(0.98), 2u);
  EXPECT_EQ(curve.parts_for(0.99), 3u);
  EXPECT_EQ(curve.parts_for(2), 3u);
}

TEST(QualityCurve, FragmentsAddUp) {
  const QualityCurve curve{
      .prefixes = {{0.5, 0.7}, {1, 1}}, .common = 0.25, .energies = {0.5, 0.25}};
  EXPECT_EQ(curve.quality({}), 0);
  EXPECT_EQ(curve.quality(std::vector<size_t>{9}), 0);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1}), 0.5);
  EXPECT_EQ(curve.quality(std::vector<size_t>{1, 0}), 1);
}

}  // namespace
}  // namespace hoist::tensors
