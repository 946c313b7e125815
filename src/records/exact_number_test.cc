// Numbers as they are written against integers of 128 bits.
#include "records/exact_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "base/test_seed.h"

namespace hoist::records {
namespace {

constexpr int kUnit = 20;  // 10^-20: what the numbers of random_number() are multiples of

__int128 power(int exponent) {
  __int128 value = 1;
  for (int i = 0; i < exponent; ++i) value *= 10;
  return value;
}

struct Written {
  std::string text;
  __int128 units;
};

// Up to 14 digits, in one of several ways to write them.
Written random_number(std::mt19937_64& random) {
  const auto mantissa =
      static_cast<int64_t>(random() % (random() % 2 == 0 ? 300 : 100000000000000));
  const int scale = static_cast<int>(random() % 10);
  const bool negative = random() % 2 == 0;
  std::string digits = std::to_string(mantissa);
  std::string text;
  if (random() % 4 == 0) {  // d.ddde±x
    const int exponent = static_cast<int>(digits.size()) - 1 - scale;
    text = digits.substr(0, 1);
    if (digits.size() > 1) text += "." + digits.substr(1);
    text += (random() % 2 == 0 ? "e" : "E") +
            std::string(exponent >= 0 && random() % 2 == 0 ? "+" : "") + std::to_string(exponent);
  } else {
    while (digits.size() <= static_cast<size_t>(scale)) digits.insert(0, 1, '0');
    text = digits.substr(0, digits.size() - static_cast<size_t>(scale));
    if (scale > 0) text += "." + digits.substr(digits.size() - static_cast<size_t>(scale));
    if (scale > 0 && random() % 4 == 0) text += "000";
  }
  const __int128 units = mantissa * power(kUnit - scale);
  return {(negative ? "-" : "") + text, negative ? -units : units};
}

int sign(__int128 value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }
int sign_of(int value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

TEST(ExactNumber, ComparesAsIntegersDo) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 20000; ++i) {
    const Written a = random_number(random);
    const Written b = i % 5 == 0 ? a : random_number(random);
    const auto left = ExactNumber::parse(a.text);
    const auto right = ExactNumber::parse(b.text);
    ASSERT_TRUE(left && right) << a.text << " " << b.text;
    ASSERT_EQ(sign_of(left->compare(*right)), sign(a.units - b.units)) << a.text << " " << b.text;
  }
}

TEST(ExactNumber, BoundsIntegersOfAnyScale) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 20000; ++i) {
    const Written than = random_number(random);
    const auto number = ExactNumber::parse(than.text);
    ASSERT_TRUE(number);
    const int scale = static_cast<int>(random() % 11);
    const ExactNumber::Bound bound = number->bound(scale);
    const auto near = static_cast<int64_t>(than.units / power(kUnit - scale));
    for (const int64_t value : {near - 1, near, near + 1, static_cast<int64_t>(random() % 1000)}) {
      ASSERT_EQ(sign_of(bound.compare_to(value)), sign(value * power(kUnit - scale) - than.units))
          << value << " " << scale << " " << than.text;
    }
  }
}

TEST(ExactNumber, BoundsReachBeyond64Bits) {
  const auto compare = [](const char* text, int scale, int64_t value) {
    return sign_of(ExactNumber::parse(text)->bound(scale).compare_to(value));
  };
  EXPECT_EQ(compare("9223372036854775807", 0, INT64_MAX), 0);
  EXPECT_EQ(compare("9223372036854775807", 0, INT64_MAX - 1), -1);
  EXPECT_EQ(compare("9223372036854775808", 0, INT64_MAX), -1);
  EXPECT_EQ(compare("-9223372036854775808", 0, INT64_MIN), 0);
  EXPECT_EQ(compare("-9223372036854775809", 0, INT64_MIN), 1);
  EXPECT_EQ(compare("9e999999", 18, INT64_MAX), -1);
  EXPECT_EQ(compare("-9e999999", 18, INT64_MIN), 1);
  EXPECT_EQ(compare("1e-999999", 18, 0), -1);
  EXPECT_EQ(compare("-1e-999999", 18, 0), 1);
  EXPECT_EQ(compare("-0.0", 3, 0), 0);
  EXPECT_EQ(compare("0.5", 0, 0), -1);
  EXPECT_EQ(compare("-0.5", 0, 0), 1);
  EXPECT_EQ(compare("-0.5", 0, -1), -1);
}

TEST(ExactNumber, TellsNumbersFromNames) {
  for (const char* text : {"0", "-0", "7", "-1.50", "0.0", "1e5", "1.5e-07", "9E+300", "1e00005"}) {
    EXPECT_TRUE(ExactNumber::parse(text)) << text;
  }
  for (const char* text : {"", "-", "+1", "007", "1.", ".5", "12e45", "1e", "1e+", "0x10", "inf",
                           "nan", "1 ", " 1", "1e1234567890", "1.2.3", "--1"}) {
    EXPECT_FALSE(ExactNumber::parse(text)) << text;
  }
  for (const char* text : {"68a128dc", "00042", "10.0.0.1", "2024-01-31", "13:55:36", "1A"}) {
    EXPECT_TRUE(is_ordered_text(text)) << text;
  }
  for (const char* text : {"", "beef", "null", "NaN", "10 ms", "x1", "256.0.0.1", "-"}) {
    EXPECT_FALSE(is_ordered_text(text)) << text;
  }
}

TEST(NearestDouble, IsThatOfTheLibraryAlsoBeyondTheRange) {
  const std::string zeros(400, '0');
  for (const std::string& text :
       {std::string("1e400"), std::string("-1e400"), std::string("1e-400"), std::string("-1e-400"),
        std::string("123456e303"), std::string("0.00001e-320"), "1" + zeros, "-1" + zeros + ".5",
        "0." + zeros + "1", "0." + zeros + "1e-1", "0." + zeros + "1e900", "1" + zeros + "e-900",
        std::string("1e99999999999999999999"), std::string("1e-99999999999999999999"),
        std::string("4.9e-324"), std::string("1.5")}) {
    const std::optional<double> value = nearest_double(text);
    ASSERT_TRUE(value) << text;
    const double expected = std::strtod(text.c_str(), nullptr);
    EXPECT_EQ(*value, expected) << text;
    EXPECT_EQ(std::signbit(*value), std::signbit(expected)) << text;
  }
  EXPECT_FALSE(nearest_double("1x"));
  EXPECT_FALSE(nearest_double("x"));
  EXPECT_FALSE(nearest_double(""));
}

}  // namespace
}  // namespace hoist::records
