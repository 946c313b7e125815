#include "records/number_text.h"

#include <array>
#include <charconv>

namespace hoist::records {
namespace {

constexpr std::array<int64_t, kMaxScale + 1> make_powers() {
  std::array<int64_t, kMaxScale + 1> powers{};
  int64_t power = 1;
  for (int64_t& entry : powers) {
    entry = power;
    power = power < 1000000000000000000 ? power * 10 : power;
  }
  return powers;
}
constexpr std::array<int64_t, kMaxScale + 1> kPowers = make_powers();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A digit of base 16 in the case of the form; -1: none.
int digit_value(char c, bool upper_case) {
  if (is_digit(c)) return c - '0';
  const char first = upper_case ? 'A' : 'a';
  return c >= first && c < first + 6 ? c - first + 10 : -1;
}

char* put_unsigned(char* out, uint64_t value) { return std::to_chars(out, out + 20, value).ptr; }

char* put_fixed(char* out, uint64_t value, unsigned width, unsigned base, bool upper_case) {
  const char* symbols = upper_case ? "0123456789ABCDEF" : "0123456789abcdef";
  for (unsigned i = width; i-- > 0; value /= base) out[i] = symbols[value % base];
  return out + width;
}

// `fraction` of `scale` digits, the first `digits` of them.
char* put_fraction(char* out, uint64_t fraction, unsigned scale, unsigned digits) {
  for (unsigned i = scale; i > digits; --i) fraction /= 10;
  return put_fixed(out, fraction, digits, 10, false);
}

uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

char* render_decimal(const NumberForm& form, int64_t value, uint8_t digits, char* out) {
  if (value < 0) *out++ = '-';
  const auto unit = static_cast<uint64_t>(kPowers[form.scale]);
  const uint64_t whole = magnitude(value) / unit;
  const uint64_t fraction = magnitude(value) % unit;
  if (form.style == DecimalStyle::fixed) digits = form.scale;
  if (form.style == DecimalStyle::shortest) {
    digits = shortest_digits(static_cast<int64_t>(fraction), form.scale, form.least);
  }
  out = put_unsigned(out, whole);
  if (digits == 0) return out;
  *out++ = '.';
  return put_fraction(out, fraction, form.scale, digits);
}

char* render_address(uint32_t value, char* out) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out = put_unsigned(out, value >> shift & 0xff);
    if (shift > 0) *out++ = '.';
  }
  return out;
}

}  // namespace

int64_t power_of_ten(int exponent) { return kPowers[static_cast<size_t>(exponent)]; }

std::optional<int64_t> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.size() > 19 || !is_digit(digits[0])) return std::nullopt;
  if (digits[0] == '0' && (negative || digits.size() > 1)) return std::nullopt;
  if (digits.size() <= 18) {
    int64_t value = 0;
    for (const char c : digits) {
      if (!is_digit(c)) return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return negative ? -value : value;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  const char* const first = at;
  uint64_t value = 0;                      // 19 digits fit
  if (end - at > 19) return std::nullopt;  // 18 digits and a point
  while (at != end && is_digit(*at)) value = value * 10 + static_cast<uint64_t>(*at++ - '0');
  const auto whole = static_cast<size_t>(at - first);
  if (whole == 0 || whole > 18 || (*first == '0' && whole > 1)) return std::nullopt;
  uint8_t scale = 0;
  if (at != end) {
    if (*at++ != '.') return std::nullopt;
    const char* const point = at;
    while (at != end && is_digit(*at)) value = value * 10 + static_cast<uint64_t>(*at++ - '0');
    if (at != end || at == point) return std::nullopt;
    scale = static_cast<uint8_t>(at - point);
  }
  if (whole + scale > 18 || (negative && value == 0)) return std::nullopt;
  const auto mantissa = static_cast<int64_t>(value);
  return Decimal{negative ? -mantissa : mantissa, scale};
}

std::optional<int64_t> parse_digits(const NumberForm& form, std::string_view text) {
  if (text.size() != form.width) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    const int digit = digit_value(c, form.upper_case);
    if (digit < 0 || digit >= form.base) return std::nullopt;
    value = value * form.base + static_cast<uint64_t>(digit);
  }
  return static_cast<int64_t>(value);
}

std::optional<int64_t> parse_address(std::string_view text) {
  uint32_t value = 0;
  for (int part = 0; part < 4; ++part) {
    const size_t end = text.find('.');
    if ((end == std::string_view::npos) != (part == 3)) return std::nullopt;
    const std::string_view digits = text.substr(0, end);
    if (digits.size() > 3) return std::nullopt;
    const std::optional<int64_t> byte = parse_integer(digits);
    if (!byte || *byte < 0 || *byte > 255) return std::nullopt;
    value = value << 8 | static_cast<uint32_t>(*byte);
    if (part < 3) text.remove_prefix(end + 1);
  }
  return value;
}

uint8_t shortest_digits(int64_t value, uint8_t scale, uint8_t least) {
  uint8_t digits = scale;
  while (digits > least && value % 10 == 0) {
    value /= 10;
    --digits;
  }
  return digits;
}

char* render_number(const NumberForm& form, int64_t value, uint8_t digits, char* out) {
  switch (form.type) {
    case NumberType::integer:
      return std::to_chars(out, out + 20, value).ptr;
    case NumberType::decimal:
      return render_decimal(form, value, digits, out);
    case NumberType::digits:
      return put_fixed(out, static_cast<uint64_t>(value), form.width, form.base, form.upper_case);
    case NumberType::address:
      return render_address(static_cast<uint32_t>(value), out);
    case NumberType::date:
      return render_date(form.date, value, out);
  }
  return out;
}

double number_of(const NumberForm& form, int64_t value) {
  switch (form.type) {
    case NumberType::decimal: {
      // Both are exact up to 2^53 and 10^22, and so the quotient is the nearest double (Clinger,
      // "How to Read Floating Point Numbers Accurately", PLDI 1990). Beyond, the text is read.
      if (magnitude(value) <= uint64_t{1} << 53) {
        return static_cast<double>(value) / static_cast<double>(kPowers[form.scale]);
      }
      char text[kMaxNumberBytes];
      const char* end = render_decimal(form, value, form.scale, text);
      double number = 0;
      std::from_chars(text, end, number);
      return number;
    }
    case NumberType::digits:
      return form.base == 16 ? static_cast<double>(static_cast<uint64_t>(value))
                             : static_cast<double>(value);
    case NumberType::date:
      return static_cast<double>(value) / static_cast<double>(date_units(form.date));
    default:
      return static_cast<double>(value);
  }
}

void numbers_of(const NumberForm& form, std::span<const int64_t> values, std::span<double> out) {
  if (form.type == NumberType::decimal) {
    uint64_t bits = 0;
    for (const int64_t value : values) bits |= magnitude(value);
    if (bits <= uint64_t{1} << 53) {
      const auto unit = static_cast<double>(kPowers[form.scale]);
      for (size_t i = 0; i < values.size(); ++i) out[i] = static_cast<double>(values[i]) / unit;
      return;
    }
  }
  if (form.type == NumberType::integer) {
    for (size_t i = 0; i < values.size(); ++i) out[i] = static_cast<double>(values[i]);
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) out[i] = number_of(form, values[i]);
}

}  // namespace hoist::records
