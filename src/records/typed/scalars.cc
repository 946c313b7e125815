#include "records/typed/scalars.h"

#include <algorithm>
#include <limits>

#include "records/exact_number.h"
#include "records/number_text.h"
#include "records/values.h"

namespace hoist::records::typed {

bool is_missing(std::string_view text, Format format, ColumnKind kind) {
  const bool is_quoted = kind == ColumnKind::text && format == Format::json;
  return (text.empty() && !is_quoted) || (text == "null" && kind == ColumnKind::bare);
}

bool is_missing_text(std::string_view text, Format format, ColumnKind kind) {
  return format == Format::json && kind == ColumnKind::bare && text == "null";
}

std::optional<bool> boolean(std::string_view text, Format format, ColumnKind kind) {
  if (kind != ColumnKind::bare) return std::nullopt;
  if (text == "true" || (text == "True" && format == Format::csv)) return true;
  if (text == "false" || (text == "False" && format == Format::csv)) return false;
  return std::nullopt;
}

bool is_real(std::string_view text) {
  // An integer that 64 bits do not hold would not be the same.
  if (text.size() > 18 && text.find_first_of(".eE") == text.npos) return false;
  // records/values.h knows what a number is; a column of one text has its type.
  DecodedColumn one;
  one.type = records::ColumnType::constant;
  one.count = 1;
  one.texts.strings = {text};
  return value_type(one) == ValueType::real;
}

double real(std::string_view text) {
  return nearest_double(text).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::optional<DecimalSize> decimal_size(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const bool is_zero = text.find_first_not_of("0.") == text.npos;
  if (text.find_first_not_of("0123456789.") != text.npos || (is_negative && is_zero)) {
    return std::nullopt;
  }
  const size_t whole = std::min(text.find('.'), text.size());
  const DecimalSize size = {.whole = whole,
                            .scale = whole < text.size() ? text.size() - whole - 1 : 0};
  if (size.whole == 0 || size.whole + size.scale > kMostDigits) return std::nullopt;
  return size;
}

std::optional<Int128> decimal(std::string_view text, uint8_t scale) {
  const std::optional<DecimalSize> size = decimal_size(text);
  if (!size || size->scale > scale || size->whole + scale > kMostDigits) return std::nullopt;
  Int128 value = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') value = value * 10 + (c - '0');
  }
  for (size_t i = size->scale; i < scale; ++i) value *= 10;
  return text.starts_with('-') ? -value : value;
}

namespace {

// Seconds that the clock of the zone is before UTC.
std::optional<int64_t> zone_seconds(std::string_view zone) {
  zone.remove_prefix(std::min(zone.find_first_not_of(' '), zone.size()));
  if (zone == "Z") return 0;
  std::string digits(zone);
  std::erase(digits, ':');
  if (digits.size() != 5) return std::nullopt;
  const auto two = [&](size_t at) { return (digits[at] - '0') * 10 + (digits[at + 1] - '0'); };
  const int64_t seconds = two(1) * 3600 + two(3) * 60;
  return digits[0] == '-' ? -seconds : seconds;
}

}  // namespace

uint8_t unit_of(const DateForm& form) { return static_cast<uint8_t>((form.fraction + 2) / 3 * 3); }

std::optional<int64_t> timestamp(const DateForm& form, int64_t count, uint8_t fraction) {
  int64_t result = 0;
  const int64_t seconds = form.zone.empty() ? 0 : zone_seconds(form.zone).value_or(0);
  if (fraction < form.fraction ||
      __builtin_mul_overflow(count, power_of_ten(fraction - form.fraction), &result) ||
      __builtin_sub_overflow(result, seconds * power_of_ten(fraction), &result)) {
    return std::nullopt;
  }
  return result;
}

}  // namespace hoist::records::typed
