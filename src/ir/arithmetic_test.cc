#include "ir/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hoist::ir {
namespace {

uint64_t of(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t of(double value) { return std::bit_cast<uint64_t>(value); }

int64_t binary(BinaryOperator op, Scalar type, int64_t left, int64_t right) {
  const auto bits = [&](int64_t value) { return static_cast<uint64_t>(value) & mask(type); };
  return integer_of(type, binary_bits(op, type, bits(left), bits(right), type));
}

TEST(Arithmetic, IntegersWrap) {
  EXPECT_EQ(binary(BinaryOperator::add, Scalar::i8, 127, 1), -128);
  EXPECT_EQ(binary(BinaryOperator::add, Scalar::u8, 255, 1), 0);
  EXPECT_EQ(binary(BinaryOperator::multiply, Scalar::u16, 0xffff, 0xffff), 1);
  EXPECT_EQ(binary(BinaryOperator::subtract, Scalar::i64, INT64_MIN, 1), INT64_MAX);
  EXPECT_EQ(integer_of(Scalar::i32, unary_bits(UnaryOperator::negate, Scalar::i32, 0x80000000)),
            INT32_MIN);
}

TEST(Arithmetic, DivisionIsDefinedEverywhere) {
  EXPECT_EQ(binary(BinaryOperator::divide, Scalar::i32, -7, 2), -3);
  EXPECT_EQ(binary(BinaryOperator::remainder, Scalar::i32, -7, 2), -1);
  EXPECT_EQ(binary(BinaryOperator::divide, Scalar::i32, 7, 0), 0);
  EXPECT_EQ(binary(BinaryOperator::remainder, Scalar::i32, 7, 0), 7);
  EXPECT_EQ(binary(BinaryOperator::divide, Scalar::i32, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(binary(BinaryOperator::remainder, Scalar::i64, INT64_MIN, -1), 0);
  EXPECT_EQ(binary(BinaryOperator::divide, Scalar::u32, 0xffffffff, 2), 0x7fffffff);
}

TEST(Arithmetic, ShiftsBeyondTheWidth) {
  EXPECT_EQ(binary(BinaryOperator::shift_left, Scalar::u8, 1, 7), 128);
  EXPECT_EQ(binary(BinaryOperator::shift_left, Scalar::u8, 1, 8), 0);
  EXPECT_EQ(binary(BinaryOperator::shift_left, Scalar::i32, 1, -1), 0);
  EXPECT_EQ(binary(BinaryOperator::shift_right, Scalar::i32, -8, 1), -4);
  EXPECT_EQ(binary(BinaryOperator::shift_right, Scalar::i32, -8, 100), -1);
  EXPECT_EQ(binary(BinaryOperator::shift_right, Scalar::u32, 8, 100), 0);
  EXPECT_EQ(binary(BinaryOperator::rotate_left, Scalar::u8, 0x81, 9), 0x03);
  EXPECT_EQ(binary(BinaryOperator::rotate_right, Scalar::u32, 1, 1), 0x80000000);
  EXPECT_EQ(binary(BinaryOperator::rotate_left, Scalar::u32, 1, -1), 0x80000000);
}

TEST(Arithmetic, MinimumPrefersNumbers) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto minimum = [](float a, float b) {
    return binary_bits(BinaryOperator::minimum, Scalar::f32, of(a), of(b), Scalar::f32);
  };
  EXPECT_EQ(minimum(kNan, 1), of(1.0F));
  EXPECT_EQ(minimum(1, kNan), of(1.0F));
  EXPECT_EQ(minimum(-0.0F, 0.0F), of(-0.0F));
  EXPECT_EQ(minimum(0.0F, -0.0F), of(-0.0F));
  EXPECT_EQ(binary_bits(BinaryOperator::maximum, Scalar::f32, of(-0.0F), of(0.0F), Scalar::f32),
            of(0.0F));
  EXPECT_TRUE(std::isnan(real_of(Scalar::f32, minimum(kNan, kNan))));
}

TEST(Arithmetic, FloatsBecomeIntegersWithinTheirRange) {
  const auto cast = [](double value, Scalar to) {
    return integer_of(to, cast_bits(Scalar::f64, to, of(value)));
  };
  EXPECT_EQ(cast(-1.9, Scalar::i32), -1);
  EXPECT_EQ(cast(1e20, Scalar::i64), INT64_MAX);
  EXPECT_EQ(cast(-1e20, Scalar::i64), INT64_MIN);
  EXPECT_EQ(cast(300, Scalar::u8), 255);
  EXPECT_EQ(cast(-3, Scalar::u8), 0);
  EXPECT_EQ(cast(127.99, Scalar::i8), 127);
  EXPECT_EQ(cast(NAN, Scalar::i32), 0);
  EXPECT_EQ(cast(0x1p63, Scalar::i64), INT64_MAX);
  EXPECT_EQ(cast_bits(Scalar::f64, Scalar::u64, of(0x1p64)), UINT64_MAX);
  EXPECT_EQ(cast_bits(Scalar::f32, Scalar::boolean, of(0.5F)), 1U);
  EXPECT_EQ(cast_bits(Scalar::f32, Scalar::boolean, of(NAN)), 0U);
  EXPECT_EQ(cast_bits(Scalar::boolean, Scalar::f32, 1), of(1.0F));
}

TEST(Arithmetic, NarrowFloatsAreRounded) {
  const auto half = [](double value) { return cast_bits(Scalar::f64, Scalar::f16, of(value)); };
  const uint64_t sum =
      binary_bits(BinaryOperator::add, Scalar::f16, half(2048), half(1), Scalar::f16);
  EXPECT_EQ(real_of(Scalar::f16, sum), 2048);  // a tie goes to even
  EXPECT_EQ(real_of(Scalar::f16, half(1e6)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(real_of(Scalar::bf16, cast_bits(Scalar::f32, Scalar::bf16, of(257.0F))), 256);
}

TEST(Arithmetic, NothingIsFused) {
  const auto product = binary_bits(BinaryOperator::multiply, Scalar::f32, of(1 + 0x1p-23F),
                                   of(1 + 0x1p-23F), Scalar::f32);
  const auto plain =
      binary_bits(BinaryOperator::subtract, Scalar::f32, product, of(1 + 0x1p-22F), Scalar::f32);
  EXPECT_EQ(plain, of(0.0F));
  const uint64_t fused[] = {of(1 + 0x1p-23F), of(1 + 0x1p-23F), of(-(1 + 0x1p-22F))};
  EXPECT_EQ(builtin_bits(Builtin::fused_multiply_add, Scalar::f32, fused), of(0x1p-46F));
}

TEST(Arithmetic, BitsOfIntegers) {
  const auto count = [](Builtin builtin, Scalar type, uint64_t value) {
    return builtin_bits(builtin, type, std::span(&value, 1));
  };
  EXPECT_EQ(count(Builtin::population_count, Scalar::i8, 0xff), 8U);
  EXPECT_EQ(count(Builtin::leading_zeros, Scalar::u16, 1), 15U);
  EXPECT_EQ(count(Builtin::leading_zeros, Scalar::u16, 0), 16U);
  EXPECT_EQ(count(Builtin::trailing_zeros, Scalar::u64, 0), 64U);
  EXPECT_EQ(count(Builtin::absolute, Scalar::i8, 0x80), 0x80U);
  const uint64_t wide[] = {UINT64_MAX, UINT64_MAX};
  EXPECT_EQ(builtin_bits(Builtin::multiply_high, Scalar::u64, wide), UINT64_MAX - 1);
  EXPECT_EQ(builtin_bits(Builtin::multiply_high, Scalar::i64, wide), 0U);
}

}  // namespace
}  // namespace hoist::ir
