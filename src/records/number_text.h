// Numbers as text, and as 64-bit integers with a form that all values of a column share. A text is
// taken only where rendering its integer gives the same bytes; else it is an exception of its
// column.
//
//   integer    -12            -12
//   decimal    117391.31      11739131 (scale 2)
//   digits     68a128dc       0x68a128dc   (a fixed number of digits, base 10 or 16)
//   address    192.168.0.1    0xc0a80001
//   date       date_text.h
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "records/date_text.h"

namespace hoist::records {

// As written into files.
enum class NumberType : uint8_t { integer = 0, decimal = 1, digits = 2, address = 3, date = 4 };

// How many digits follow the point of a decimal.
enum class DecimalStyle : uint8_t {
  fixed = 0,     // as many as the scale
  shortest = 1,  // up to the last that is not 0, but at least `least`
  own = 2,       // a column of its own tells
};

struct NumberForm {
  NumberType type = NumberType::integer;
  uint8_t scale = 0;  // decimal: values count units of 10^-scale; at most 18
  DecimalStyle style = DecimalStyle::fixed;
  uint8_t least = 0;        // decimal, shortest: at most the scale
  uint8_t base = 10;        // digits: 10 or 16
  uint8_t width = 0;        // digits: 1 to 18 in base 10, to 16 in base 16
  bool upper_case = false;  // digits
  DateForm date;
};

inline constexpr int kMaxScale = 18;

std::optional<int64_t> parse_integer(std::string_view text);

struct Decimal {
  int64_t mantissa;
  uint8_t scale;  // digits after the point, as written
};
// -12.50, without needless zeros before the point, with at most 18 digits. -0 is none.
std::optional<Decimal> parse_decimal(std::string_view text);

// Digits only, exactly form.width of them.
std::optional<int64_t> parse_digits(const NumberForm& form, std::string_view text);
std::optional<int64_t> parse_address(std::string_view text);

// The digits behind the point of the scaled value in style `shortest`.
uint8_t shortest_digits(int64_t value, uint8_t scale, uint8_t least);

inline constexpr size_t kMaxNumberBytes = 48;
// Writes at most kMaxNumberBytes, whatever the value is, and gives the end. `digits`, at most the
// scale, is for decimals of style `own`.
char* render_number(const NumberForm& form, int64_t value, uint8_t digits, char* out);

int64_t power_of_ten(int exponent);  // 0 to 18

// The number that a value stands for: seconds of dates, else what it reads as.
double number_of(const NumberForm& form, int64_t value);
// The same for many; `out` has as many.
void numbers_of(const NumberForm& form, std::span<const int64_t> values, std::span<double> out);

}  // namespace hoist::records
