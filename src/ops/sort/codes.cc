#include "ops/sort/codes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ops/sort/scratch.h"

namespace hoist::sort {
namespace {

constexpr uint32_t kTextBytes = 7;
constexpr uint64_t kMoreFollows = kTextBytes + 1;
constexpr uint32_t kDeepText = 256;
constexpr uint32_t kDeepPlainText = uint32_t{1} << 30;
constexpr uint64_t kSign = uint64_t{1} << 63;
constexpr uint64_t kHumanSign = uint64_t{1} << 57;
constexpr uint32_t kVersionBytes = 8;
constexpr uint32_t kDeepVersion = 64;

// Up to 7 bytes, big-endian, and their number; `available` counts all bytes that are left.
uint64_t pack_text(const unsigned char* bytes, size_t available) {
  uint64_t code = 0;
  if (available > kTextBytes) {
    std::memcpy(&code, bytes, sizeof code);
    return (__builtin_bswap64(code) & ~uint64_t{0xff}) | kMoreFollows;
  }
  for (size_t i = 0; i < available; ++i) code |= uint64_t{bytes[i]} << (56 - 8 * i);
  return code | available;
}

// The digits of a number as -n reads them.
struct Number {
  bool negative = false;
  uint64_t integer_digits = 0;  // without leading zeros
  uint64_t leading = 0;         // the first `precision` digits, as if padded with zeros
  bool rest = false;            // a digit beyond those is not zero
  bool is_zero() const { return integer_digits == 0 && leading == 0 && !rest; }
};

Number read_number(Line text, int precision, const LocaleFacts& locale) {
  Number number;
  const char* at = text.text;
  const char* const end = text.text + text.length;
  while (at < end && locale.blank[static_cast<unsigned char>(*at)]) ++at;
  if (at < end && *at == '-') {
    number.negative = true;
    ++at;
  }
  int taken = 0;
  const auto take = [&](char digit) {
    if (taken < precision) {
      number.leading = number.leading * 10 + static_cast<uint64_t>(digit - '0');
      ++taken;
    } else {
      number.rest |= digit != '0';
    }
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (at < end &&
         (is_digit(*at) || static_cast<unsigned char>(*at) == locale.thousands_separator)) {
    if (is_digit(*at) && (number.integer_digits > 0 || *at != '0')) {
      ++number.integer_digits;
      take(*at);
    }
    ++at;
  }
  if (at < end && *at == locale.decimal_point[0]) {
    ++at;
    while (at < end && is_digit(*at)) take(*at++);
  }
  for (; taken < precision; ++taken) number.leading *= 10;
  return number;
}

constexpr int kPrecision = 16;  // digits that a code of -n tells
constexpr int kDigitsAt = 55;   // the number of integer digits in its magnitude

// In decimal, of a number of kPrecision digits that is not 0.
unsigned trailing_zeros(uint64_t number) {
  unsigned zeros = 0;
  const auto drop = [&](uint64_t power, unsigned count) {
    if (number % power != 0) return;
    number /= power;
    zeros += count;
  };
  drop(100'000'000, 8);
  drop(10'000, 4);
  drop(100, 2);
  drop(10, 1);
  return zeros;
}

// Magnitude bits (below the sign) to a code: larger magnitudes come first when negative.
uint64_t with_sign(uint64_t magnitude, bool negative, uint64_t sign) {
  return negative ? (sign - 1) & ~magnitude : magnitude | sign;
}

// Whether the number behind the code has digits that the code does not tell.
bool rounded(uint64_t code, uint64_t sign) {
  return (((code & sign) != 0 ? code : ~code) & 1) != 0;
}

// Whether 8 bytes of a version's spelling may be nothing but its endless end.
bool is_version_end(uint64_t code) {
  return code == 0x0201020102010201 || code == 0x0102010201020102;
}

// Order of -g: texts that are no number, NaN, then numbers. Rounding to double keeps the order.
uint64_t general_code(Line text) {
  const std::string copy(text.text, text.length);
  char* end = nullptr;
  const long double value = std::strtold(copy.c_str(), &end);
  if (end == copy.c_str()) return 0;
  if (std::isnan(value)) return 1;
  const double rounded = value == 0 ? 0.0 : static_cast<double>(value);
  uint64_t bits;
  std::memcpy(&bits, &rounded, sizeof bits);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

}  // namespace

Coder::Coder(const Comparator& comparator)
    : comparator_(comparator),
      options_(comparator.options()),
      collation_(comparator.locale().hard_collation) {
  if (options_.reverse) reverse_last_resort_ = ~uint64_t{0};
  const bool text_key = std::any_of(options_.keys.begin(), options_.keys.end(),
                                    [](const Key& key) { return key.ordering == Ordering::text; });
  const bool last_resort = options_.keys.empty() || !(options_.stable || options_.unique);
  guessed_ = collation_.hard() && (text_key || last_resort);
}

uint64_t Coder::code(Line line, Stage stage) const {
  if (stage.key == options_.keys.size()) {
    return text_code(line, stage.depth, nullptr) ^ reverse_last_resort_;
  }
  const uint64_t code = key_code(stage.key, comparator_.key_range(stage.key, line), stage.depth);
  return options_.keys[stage.key].reverse ? ~code : code;
}

bool Coder::is_collated(Stage stage) const {
  return collation_.hard() &&
         (stage.key == options_.keys.size() || options_.keys[stage.key].ordering == Ordering::text);
}

bool Coder::is_plain_text(Stage stage) const {
  if (collation_.hard()) return false;
  if (stage.key == options_.keys.size()) return true;
  const Key& key = options_.keys[stage.key];
  return key.ordering == Ordering::text && !is_translated(key);
}

Line Coder::stage_text(Line line, Stage stage) const {
  const Line text =
      stage.key == options_.keys.size() ? line : comparator_.key_range(stage.key, line);
  const size_t skipped = is_plain_text(stage) ? std::min<size_t>(stage.depth, text.length) : 0;
  return {text.text + skipped, text.length - skipped};
}

uint64_t Coder::key_code(size_t index, Line text, uint32_t depth) const {
  const Key& key = options_.keys[index];
  if (key.ordering == Ordering::text) return text_code(text, depth, &key);
  std::string copy;
  if (is_translated(key)) {
    copy = translated(text, key);
    text = {copy.data(), copy.size()};
  }
  switch (key.ordering) {
    case Ordering::text:
      break;
    case Ordering::numeric:
      return numeric_code(text);
    case Ordering::human_numeric:
      return human_code(text);
    case Ordering::general_numeric:
      return general_code(text);
    case Ordering::month:
      return static_cast<uint64_t>(month_number(text, comparator_.locale()));
    case Ordering::version:
      return version_code(text, depth, options_.dialect);
  }
  return 0;
}

uint64_t Coder::text_code(Line text, uint32_t depth, const Key* key) const {
  static_assert(Collation::kLevelBytes == kTextBytes + 1);
  unsigned char out[kTextBytes + 1] = {};
  if (key != nullptr && is_translated(*key)) {
    if (!collation_.hard()) return pack_text(out, translate(text, *key, depth, out));
    const std::string copy = translated(text, *key);
    return pack_text(out, collation_.level1(copy, depth, out));
  }
  if (collation_.hard()) {
    return pack_text(out, collation_.level1({text.text, text.length}, depth, out));
  }
  if (depth >= text.length) return 0;
  return pack_text(reinterpret_cast<const unsigned char*>(text.text) + depth, text.length - depth);
}

bool Coder::is_translated(const Key& key) {
  return key.fold_case || key.dictionary || key.ignore_nonprinting;
}

// Calls visit(byte) for each byte that -d or -i leave of the text, folded by -f, until it returns
// false.
template <typename Visit>
void Coder::visit_translated(Line text, const Key& key, const Visit& visit) const {
  const LocaleFacts& locale = comparator_.locale();
  const bool* const kept = key.dictionary           ? locale.dictionary
                           : key.ignore_nonprinting ? locale.printing
                                                    : nullptr;
  for (size_t i = 0; i < text.length; ++i) {
    const auto byte = static_cast<unsigned char>(text.text[i]);
    if (kept != nullptr && !kept[byte]) continue;
    if (!visit(key.fold_case ? locale.fold[byte] : byte)) return;
  }
}

// Up to 8 bytes of the translated text from `depth` on; their number.
size_t Coder::translate(Line text, const Key& key, uint32_t depth, unsigned char* out) const {
  size_t count = 0;
  visit_translated(text, key, [&](unsigned char byte) {
    if (depth > 0) {
      --depth;
    } else {
      out[count++] = byte;
    }
    return count <= kTextBytes;
  });
  return count;
}

std::string Coder::translated(Line text, const Key& key) const {
  std::string copy;
  copy.reserve(text.length);
  visit_translated(text, key, [&](unsigned char byte) {
    copy += static_cast<char>(byte);
    return true;
  });
  return copy;
}

uint64_t Coder::numeric_code(Line text) const {
  constexpr uint64_t kMostDigits = 255;
  const Number number = read_number(text, kPrecision, comparator_.locale());
  if (number.is_zero()) return kSign;
  uint64_t magnitude;
  if (number.integer_digits >= kMostDigits) {
    magnitude = kMostDigits << kDigitsAt | 1;  // as long as that: the digits decide by comparison
  } else {
    magnitude = number.integer_digits << kDigitsAt | number.leading << 1 | uint64_t{number.rest};
  }
  return with_sign(magnitude, number.negative, kSign);
}

uint64_t Coder::human_code(Line text) const {
  constexpr int kUnitBias = 16;
  constexpr uint64_t kMostDigits = 255;
  const LocaleFacts& locale = comparator_.locale();
  const auto unit = static_cast<uint64_t>(human_unit(text, locale, options_.dialect) + kUnitBias)
                    << 58;
  const Number number = read_number(text, 14, locale);
  if (number.is_zero()) return unit | kHumanSign;
  uint64_t magnitude;
  if (number.integer_digits >= kMostDigits) {
    magnitude = kMostDigits << 48 | 1;
  } else {
    magnitude = number.integer_digits << 48 | number.leading << 1 | uint64_t{number.rest};
  }
  return unit | with_sign(magnitude, number.negative, kHumanSign);
}

bool Coder::is_reversed(Stage stage) const {
  return stage.key == options_.keys.size() ? options_.reverse : options_.keys[stage.key].reverse;
}

bool Coder::append_collation_key(Line line, Stage stage, std::string& keys) const {
  const Line text = stage_text(line, stage);
  if (text.length > kMaximumCollated) return false;
  const bool changed = stage.key < options_.keys.size() && is_translated(options_.keys[stage.key]);
  const std::string copy = changed ? translated(text, options_.keys[stage.key]) : std::string();
  Scratch scratch;
  const char* const terminated = changed ? copy.c_str() : scratch.terminated_copy(text);
  const size_t before = keys.size();
  size_t room = 4 * text.length + 64;
  for (;;) {
    keys.resize(before + room);
    const size_t length = std::strxfrm(keys.data() + before, terminated, room);
    if (length < room) {
      keys.resize(before + length);
      return true;
    }
    room = length + 1;
  }
}

Next Coder::after_key(Stage& stage) const {
  stage.depth = 0;
  ++stage.key;
  if (stage.key < options_.keys.size()) return Next::stage;
  return options_.stable || options_.unique ? Next::done : Next::stage;
}

Next Coder::next_if_identical(Stage& stage) const {
  return stage.key == options_.keys.size() ? Next::done : after_key(stage);
}

uint64_t Coder::length_of_bare_number(uint64_t code, Stage stage) const {
  const bool is_number =
      stage.key < options_.keys.size() && options_.keys[stage.key].ordering == Ordering::numeric;
  if (!is_number) return 0;
  if (is_reversed(stage)) code = ~code;
  if (rounded(code, kSign)) return 0;
  const bool negative = (code & kSign) == 0;
  const uint64_t magnitude = (negative ? ~code : code) & ~kSign;
  const uint64_t whole = magnitude >> kDigitsAt;
  // Zero, and what is below one, may have a zero in front or not.
  if (whole == 0) return 0;
  const uint64_t leading = magnitude >> 1 & ((uint64_t{1} << (kDigitsAt - 1)) - 1);
  const uint64_t significant = kPrecision - trailing_zeros(leading);
  const uint64_t decimals = significant > whole ? significant - whole + 1 : 0;  // and their point
  return whole + decimals + (negative ? 1 : 0);
}

Next Coder::next(uint64_t code, Stage& stage) const {
  const bool last_resort = stage.key == options_.keys.size();
  const Key* const key = last_resort ? nullptr : &options_.keys[stage.key];
  if (is_reversed(stage)) code = ~code;
  switch (last_resort ? Ordering::text : key->ordering) {
    case Ordering::text:
      if ((code & 0xff) == kMoreFollows) {
        stage.depth += kTextBytes;
        // Text that must be read from its start for every code is compared once it is long.
        return stage.depth < (is_plain_text(stage) ? kDeepPlainText : kDeepText) ? Next::stage
                                                                                 : Next::compare;
      }
      if (collation_.hard()) return Next::collate;
      return last_resort ? Next::done : after_key(stage);
    case Ordering::numeric:
      return rounded(code, kSign) ? Next::compare : after_key(stage);
    case Ordering::human_numeric:
      return rounded(code, kHumanSign) ? Next::compare : after_key(stage);
    case Ordering::month:
      return after_key(stage);
    case Ordering::version:
      stage.depth += kVersionBytes;
      return stage.depth < kDeepVersion && !is_version_end(code) ? Next::stage : Next::compare;
    case Ordering::general_numeric:
      return Next::compare;
  }
  return Next::compare;
}

}  // namespace hoist::sort
