#include "px/lower/literal.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/arithmetic.h"

namespace hoist::px {
namespace {

using ir::BinaryOperator;
using ir::Scalar;

Literal integer(const char* text) { return *parse_integer(text); }

std::string computed(BinaryOperator op, const char* left, const char* right) {
  const auto made = compute(op, integer(left), integer(right));
  return !made ? made.error().message : *made ? text_of(**made) : "undecided";
}

TEST(Literal, IsRead) {
  EXPECT_EQ(text_of(integer("1_000")), "1000");
  EXPECT_EQ(text_of(integer("0xFFFF_ffff_ffff_ffff")), "18446744073709551615");
  EXPECT_EQ(text_of(integer("0b101")), "5");
  for (const char* wrong : {"18446744073709551616", "0x", "0xg", "0b2", "12a", "_"}) {
    EXPECT_FALSE(parse_integer(wrong)) << wrong;
  }
  EXPECT_EQ(parse_real("1_0.5e-1")->real, 1.05);
  EXPECT_FALSE(parse_real("1e"));
}

TEST(Literal, IsComputedExactly) {
  EXPECT_EQ(computed(BinaryOperator::multiply, "4294967296", "2147483648"), "9223372036854775808");
  EXPECT_EQ(computed(BinaryOperator::multiply, "4294967296", "4294967296"),
            "the number does not fit 64 bits");
  EXPECT_EQ(computed(BinaryOperator::subtract, "3", "5"), "-2");
  EXPECT_EQ(computed(BinaryOperator::divide, "7", "2"), "3");
  EXPECT_EQ(computed(BinaryOperator::remainder, "7", "0"), "a division by zero");
  EXPECT_EQ(computed(BinaryOperator::shift_left, "1", "63"), "9223372036854775808");
  EXPECT_EQ(computed(BinaryOperator::shift_left, "1", "64"), "the number does not fit 64 bits");
  EXPECT_EQ(computed(BinaryOperator::shift_right, "255", "200"), "0");
  EXPECT_EQ(computed(BinaryOperator::rotate_left, "1", "1"), "undecided");
  EXPECT_TRUE(compute(ir::Comparison::less, integer("3"), *parse_real("3.5")));
}

TEST(Literal, FitsItsTypeOrIsRefused) {
  EXPECT_EQ(bits_of(integer("255"), Scalar::u8).value(), 255u);
  EXPECT_EQ(bits_of(integer("256"), Scalar::u8).error().message,
            "256 does not fit u8, which holds 0 to 255");
  EXPECT_EQ(bits_of(integer("128"), Scalar::i8).error().message,
            "128 does not fit i8, which holds -128 to 127");
  EXPECT_EQ(bits_of(integer("65536"), Scalar::f16).error().message, "65536 does not fit f16");
  EXPECT_EQ(ir::real_of(Scalar::bf16, bits_of(*parse_real("0.1"), Scalar::bf16).value()),
            0.10009765625);
  EXPECT_FALSE(bits_of(integer("1"), Scalar::boolean));
  EXPECT_FALSE(bits_of(*parse_real("1.5"), Scalar::i32));
}

TEST(Literal, OnesOfAnyWidth) {
  const Literal ones = *compute(ir::UnaryOperator::invert, integer("0"));
  EXPECT_EQ(bits_of(ones, Scalar::u16).value(), 0xffffu);
  EXPECT_EQ(bits_of(ones, Scalar::i64).value(), ~uint64_t{0});
  const Literal minus_one = *compute(ir::UnaryOperator::negate, integer("1"));
  EXPECT_FALSE(bits_of(minus_one, Scalar::u16));
}

TEST(Literal, AloneHasATypeThatHoldsIt) {
  EXPECT_EQ(own_type(integer("2147483647")), Scalar::i32);
  EXPECT_EQ(own_type(integer("2147483648")), Scalar::i64);
  EXPECT_EQ(own_type(integer("9223372036854775808")), Scalar::u64);
  EXPECT_EQ(own_type(*parse_real("1e300")), Scalar::f32);
}

}  // namespace
}  // namespace hoist::px
