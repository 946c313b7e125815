#include "records/exact_number.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "records/json_number.h"
#include "records/number_text.h"

namespace hoist::records {
namespace {

constexpr size_t kMaxExponentDigits = 9;
constexpr __int128 kBeyond = static_cast<__int128>(1) << 100;

// The parts of a number as it is written.
struct Parts {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view exponent;  // with its sign; empty: none
};

std::optional<Parts> split(std::string_view text) {
  if (!is_json_number(text)) return std::nullopt;
  Parts parts{.negative = text.starts_with('-'), .whole = {}, .fraction = {}, .exponent = {}};
  if (parts.negative) text.remove_prefix(1);
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    parts.exponent = text.substr(e + 1);
    text = text.substr(0, e);
  }
  const size_t point = std::min(text.find('.'), text.size());
  parts.whole = text.substr(0, point);
  if (point < text.size()) parts.fraction = text.substr(point + 1);
  return parts;
}

std::string_view without_zeros_behind(std::string_view digits) {
  return digits.substr(0, digits.find_last_not_of('0') + 1);
}

int sign_of(int64_t value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

}  // namespace

std::optional<ExactNumber> ExactNumber::parse(std::string_view text) {
  const std::optional<Parts> parts = split(text);
  if (!parts || (!parts->exponent.empty() && parts->whole.size() > 1) ||
      parts->exponent.size() > kMaxExponentDigits) {
    return std::nullopt;
  }
  ExactNumber number;
  number.negative_ = parts->negative;
  number.second_ = without_zeros_behind(parts->fraction);
  if (parts->whole != "0") {
    number.first_ = number.second_.empty() ? without_zeros_behind(parts->whole) : parts->whole;
    number.exponent_ = static_cast<int64_t>(parts->whole.size());
  } else {
    const size_t zeros = std::min(number.second_.find_first_not_of('0'), number.second_.size());
    number.second_.remove_prefix(zeros);
    number.exponent_ = -static_cast<int64_t>(zeros);
  }
  std::string_view written = parts->exponent;
  if (written.starts_with('+')) written.remove_prefix(1);
  int64_t exponent = 0;
  std::from_chars(written.data(), written.data() + written.size(), exponent);
  number.exponent_ += exponent;
  return number;
}

int ExactNumber::compare_size(const ExactNumber& other) const {
  if (is_zero() || other.is_zero()) return (is_zero() ? 0 : 1) - (other.is_zero() ? 0 : 1);
  if (exponent_ != other.exponent_) return sign_of(exponent_ - other.exponent_);
  for (size_t i = 0; i < std::max(size(), other.size()); ++i) {
    if (digit(i) != other.digit(i)) return sign_of(digit(i) - other.digit(i));
  }
  return 0;
}

int ExactNumber::compare(const ExactNumber& other) const {
  if (is_zero() && other.is_zero()) return 0;
  const bool is_less = negative_ && !is_zero();
  const bool other_is_less = other.negative_ && !other.is_zero();
  if (is_less != other_is_less) return is_less ? -1 : 1;
  return is_less ? -compare_size(other) : compare_size(other);
}

ExactNumber::Bound ExactNumber::bound(int scale) const {
  Bound bound;
  if (is_zero()) return bound;
  const int64_t places = exponent_ + scale;  // digits before the point of the scaled number
  __int128 whole = 0;
  if (places > 20) {
    whole = kBeyond;
  } else {
    for (int64_t i = 0; i < places; ++i) whole = whole * 10 + digit(static_cast<size_t>(i));
    bound.is_exact_ = places >= 0 && size() <= static_cast<size_t>(places);
  }
  bound.floor_ = !negative_ ? whole : bound.is_exact_ ? -whole : -whole - 1;
  return bound;
}

int ExactNumber::Bound::compare_to(int64_t value) const {
  if (value != floor_) return value < floor_ ? -1 : 1;
  return is_exact_ ? 0 : -1;
}

bool is_ordered_text(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  if (text.find_first_of(kDigits) == std::string_view::npos) return false;
  const bool is_name = text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  return is_name || date_form(text) || parse_address(text);
}

std::optional<double> nearest_double(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return std::nullopt;
  }
  if (error != std::errc::result_out_of_range) return number;
  // Which side of the range it is on depends on the place of the first digit that is not 0.
  const bool negative = text.starts_with('-');
  const size_t e = std::min(text.find_first_of("eE"), text.size());
  int64_t exponent = 0;
  if (e < text.size()) {
    std::string_view written = text.substr(e + 1);
    if (written.starts_with('+')) written.remove_prefix(1);
    const auto [last, wrong] =
        std::from_chars(written.data(), written.data() + written.size(), exponent);
    if (wrong == std::errc::result_out_of_range) {
      exponent = written.starts_with('-') ? INT64_MIN / 2 : INT64_MAX / 2;
    }
  }
  const std::string_view digits = text.substr(0, e);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<int64_t>(digits.find_first_of("123456789"));
  exponent += first < point ? point - first : point - first + 1;
  const double size = exponent > 0 ? std::numeric_limits<double>::infinity() : 0;
  return negative ? -size : size;
}

}  // namespace hoist::records
