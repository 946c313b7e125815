// The numeric orders: -n, -h, -g and -M.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ops/sort/compare.h"
#include "ops/sort/scratch.h"

namespace hoist::sort {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_byte(char c, int byte) { return static_cast<unsigned char>(c) == byte; }

const char* skip_blanks(const char* at, const char* end, const LocaleFacts& locale) {
  while (at < end && locale.blank[static_cast<unsigned char>(*at)]) ++at;
  return at;
}

// A decimal number at the start of a text, as -n reads it: blanks, an optional '-', digits with
// thousands separators anywhere among them, the decimal point, digits. Anything else ends it, and
// what has no digits is zero.
struct Decimal {
  bool negative = false;
  std::string_view whole;     // from the first digit that counts; separators still inside
  size_t digits = 0;          // digits in `whole`: the magnitude
  std::string_view fraction;  // without trailing zeros

  bool zero() const { return digits == 0 && fraction.empty(); }
};

Decimal scan_decimal(Line text, const LocaleFacts& locale) {
  const char* const end = text.text + text.length;
  const char* at = skip_blanks(text.text, end, locale);
  Decimal number;
  if (at < end && *at == '-') {
    number.negative = true;
    ++at;
  }
  while (at < end && (*at == '0' || is_byte(*at, locale.thousands_separator))) ++at;
  const char* const whole = at;
  for (; at < end; ++at) {
    if (is_digit(*at)) {
      ++number.digits;
    } else if (!is_byte(*at, locale.thousands_separator)) {
      break;
    }
  }
  number.whole = std::string_view(whole, static_cast<size_t>(at - whole));
  if (at < end && *at == locale.decimal_point[0]) {
    const char* const fraction = ++at;
    const char* significant = at;
    for (; at < end && is_digit(*at); ++at) {
      if (*at != '0') significant = at + 1;
    }
    number.fraction = std::string_view(fraction, static_cast<size_t>(significant - fraction));
  }
  return number;
}

int compare_magnitude(const Decimal& a, const Decimal& b) {
  if (a.digits != b.digits) return a.digits < b.digits ? -1 : 1;
  const char* left = a.whole.data();
  const char* right = b.whole.data();
  for (size_t i = 0; i < a.digits; ++i, ++left, ++right) {
    while (!is_digit(*left)) ++left;
    while (!is_digit(*right)) ++right;
    if (*left != *right) return *left < *right ? -1 : 1;
  }
  return a.fraction.compare(b.fraction);
}

// The power of a thousand that a suffix of -h stands for; 0: no suffix.
int unit_order(char suffix, Dialect dialect) {
  if (suffix == 'k') return 1;
  constexpr std::string_view kUnits = "KMGTPEZYRQ";
  const size_t known = dialect.ronna_and_quetta ? kUnits.size() : kUnits.size() - 2;
  const size_t unit = kUnits.substr(0, known).find(suffix);
  return unit == std::string_view::npos ? 0 : static_cast<int>(unit) + 1;
}

// NaNs of the x87 format fill 10 of a long double's 16 bytes; the rest is padding. Release 9.1
// compares the padding too, without ever setting it: the order of NaNs with equal bits is
// undefined there, and here they are equal.
constexpr size_t kLongDoubleBytes = 10;

int compare_nans(long double a, long double b, Dialect dialect) {
  if (dialect.nans_by_sign) {
    return static_cast<int>(std::signbit(b)) - static_cast<int>(std::signbit(a));
  }
  return std::memcmp(&a, &b, kLongDoubleBytes);
}

}  // namespace

int compare_numeric(Line a, Line b, const LocaleFacts& locale) {
  const Decimal left = scan_decimal(a, locale);
  const Decimal right = scan_decimal(b, locale);
  const bool left_negative = left.negative && !left.zero();
  const bool right_negative = right.negative && !right.zero();
  if (left_negative != right_negative) return left_negative ? -1 : 1;
  return left_negative ? compare_magnitude(right, left) : compare_magnitude(left, right);
}

// Here, unlike in the value, a thousands separator counts only single and between digits:
// elsewhere it may separate the number from the next column.
int human_unit(Line text, const LocaleFacts& locale, Dialect dialect) {
  const char* const end = text.text + text.length;
  const char* at = skip_blanks(text.text, end, locale);
  const bool negative = at < end && *at == '-';
  if (negative) ++at;
  bool zero = true;
  bool number_ends = false;
  while (at < end && is_digit(*at)) {
    if (*at != '0') zero = false;
    ++at;
    if (at < end && is_byte(*at, locale.unit_separator)) {
      number_ends = at + 1 >= end || !is_digit(at[1]);
      if (number_ends) break;
      ++at;
    }
  }
  if (!number_ends && at < end && *at == locale.decimal_point[0]) {
    for (++at; at < end && is_digit(*at); ++at) {
      if (*at != '0') zero = false;
    }
  }
  if (zero || at == end) return 0;
  const int order = unit_order(*at, dialect);
  return negative ? -order : order;
}

int compare_human_numeric(Line a, Line b, const LocaleFacts& locale, Dialect dialect) {
  const int left = human_unit(a, locale, dialect);
  const int right = human_unit(b, locale, dialect);
  return left != right ? left - right : compare_numeric(a, b, locale);
}

// Texts that strtold() cannot read come first, then NaNs, then numbers.
int compare_general_numeric(Line a, Line b, Dialect dialect) {
  Scratch left_scratch;
  Scratch right_scratch;
  const char* const left_text = left_scratch.terminated_copy(a);
  const char* const right_text = right_scratch.terminated_copy(b);
  char* left_end;
  char* right_end;
  const long double left = std::strtold(left_text, &left_end);
  const long double right = std::strtold(right_text, &right_end);
  const bool left_is_number = left_end != left_text;
  const bool right_is_number = right_end != right_text;
  if (left_is_number != right_is_number) return left_is_number ? 1 : -1;
  if (!left_is_number) return 0;
  if (std::isnan(left) || std::isnan(right)) {
    if (std::isnan(left) && std::isnan(right)) return compare_nans(left, right, dialect);
    return std::isnan(left) ? -1 : 1;
  }
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

// Binary search among the sorted names for one that the text begins with, in the original's steps:
// they decide where one name is the start of another.
int month_number(Line text, const LocaleFacts& locale) {
  const char* const end = text.text + text.length;
  const char* const start = skip_blanks(text.text, end, locale);
  const size_t available = static_cast<size_t>(end - start);
  size_t low = 0;
  size_t high = locale.months.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const auto& [name, number] = locale.months[middle];
    int order = 0;
    for (size_t i = 0; i < name.size() && order == 0; ++i) {
      // The end of the text compares as NUL does.
      const int byte = i < available ? locale.fold[static_cast<unsigned char>(start[i])] : 0;
      order = byte - static_cast<unsigned char>(name[i]);
    }
    if (order == 0) return number;
    (order < 0 ? high : low) = order < 0 ? middle : middle + 1;
  }
  return 0;
}

}  // namespace hoist::sort
