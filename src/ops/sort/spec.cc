#include "ops/sort/spec.h"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <string_view>

namespace hoist::sort {
namespace {

// A field or character position: GNU sort takes one that is too large for the largest.
const char* scan_position(const char* text, size_t& position) {
  const std::optional<Number> number = scan_number(text);
  if (!number) return nullptr;
  position = number->value;
  return number->rest;
}

// F[.C] with the C optional; null where one of them is not a number.
const char* scan_field_and_char(const char* text, size_t& field, size_t& character) {
  text = scan_position(text, field);
  if (text != nullptr && *text == '.') text = scan_position(text + 1, character);
  return text;
}

// The power of 1024 of a unit of -S, -1 for none.
int unit_power(char unit) {
  constexpr std::string_view kUnits = "KMGTPEZY";
  constexpr std::string_view kSmallUnits = "kmgt";
  size_t power = kUnits.find(unit);
  if (power == std::string_view::npos) power = kSmallUnits.find(unit);
  return power == std::string_view::npos ? -1 : static_cast<int>(power) + 1;
}

std::optional<uint64_t> scale(uint64_t value, int power) {
  for (; power > 0; --power) {
    if (__builtin_mul_overflow(value, uint64_t{1024}, &value)) return std::nullopt;
  }
  return value;
}

std::optional<uint64_t> share_of_memory(uint64_t percent) {
  const double total =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double bytes = total * static_cast<double>(percent) / 100;
  if (bytes >= static_cast<double>(UINT64_MAX)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

}  // namespace

std::optional<Number> scan_number(const char* text) {
  while (isspace(static_cast<unsigned char>(*text))) ++text;
  if (*text == '-') return std::nullopt;
  char* rest;
  errno = 0;
  const uintmax_t value = std::strtoumax(text, &rest, 10);
  if (rest == text) return std::nullopt;
  return Number{value, errno == ERANGE, rest};
}

std::optional<Number> scan_whole_number(const char* text) {
  const std::optional<Number> number = scan_number(text);
  return number && *number->rest == '\0' ? number : std::nullopt;
}

std::optional<uint64_t> scan_buffer_size(const char* text) {
  std::optional<Number> number = scan_number(text);
  if (!number) {
    // A unit alone counts once.
    if (unit_power(*text) < 0) return std::nullopt;
    number = Number{1, false, text};
  }
  if (number->overflow) return std::nullopt;
  const char unit = *number->rest;
  if (unit == '\0') return scale(number->value, 1);
  if (number->rest[1] != '\0') return std::nullopt;
  if (unit == 'b') return number->value;
  if (unit == '%') return share_of_memory(number->value);
  const int power = unit_power(unit);
  return power < 0 ? std::nullopt : scale(number->value, power);
}

bool OrderingLetters::own() const {
  return skip_start_blanks || skip_end_blanks || dictionary || ignore_nonprinting || fold_case ||
         general_numeric || human_numeric || month || numeric || random || version;
}

bool OrderingLetters::compatible() const {
  const bool text = version || random || dictionary || ignore_nonprinting;
  return general_numeric + human_numeric + month + numeric + text <= 1;
}

void OrderingLetters::apply(Key& key) const {
  key.skip_start_blanks = skip_start_blanks;
  key.skip_end_blanks = skip_end_blanks;
  key.dictionary = dictionary;
  key.ignore_nonprinting = ignore_nonprinting;
  key.fold_case = fold_case;
  key.reverse = reverse;
  key.ordering = general_numeric ? Ordering::general_numeric
                 : human_numeric ? Ordering::human_numeric
                 : month         ? Ordering::month
                 : numeric       ? Ordering::numeric
                 : version       ? Ordering::version
                                 : Ordering::text;
}

const char* scan_ordering(const char* text, BlankSide side, OrderingLetters& letters) {
  for (;; ++text) {
    switch (*text) {
      case 'b':
        letters.skip_start_blanks |= side != BlankSide::end;
        letters.skip_end_blanks |= side != BlankSide::start;
        break;
      case 'd':
        letters.dictionary = true;
        break;
      case 'f':
        letters.fold_case = true;
        break;
      case 'g':
        letters.general_numeric = true;
        break;
      case 'h':
        letters.human_numeric = true;
        break;
      case 'i':
        letters.ignore_nonprinting = true;
        break;
      case 'M':
        letters.month = true;
        break;
      case 'n':
        letters.numeric = true;
        break;
      case 'R':
        letters.random = true;
        break;
      case 'r':
        letters.reverse = true;
        break;
      case 'V':
        letters.version = true;
        break;
      default:
        return text;
    }
  }
}

std::optional<KeySpec> scan_key(const char* text) {
  KeySpec spec;
  Key& key = spec.key;
  // Written positions count from 1, the start character by default the first.
  size_t start_char = 1;
  text = scan_field_and_char(text, key.start_field, start_char);
  if (text == nullptr || key.start_field == 0 || start_char == 0) return std::nullopt;
  --key.start_field;
  key.start_char = start_char - 1;
  text = scan_ordering(text, BlankSide::start, spec.letters);
  if (*text == ',') {
    text = scan_field_and_char(text + 1, key.end_field, key.end_char);
    if (text == nullptr || key.end_field == 0) return std::nullopt;
    --key.end_field;
    text = scan_ordering(text, BlankSide::end, spec.letters);
  }
  return *text == '\0' ? std::optional(spec) : std::nullopt;
}

std::optional<KeySpec> scan_obsolete_start(const char* text) {
  KeySpec spec;
  text = scan_field_and_char(text + 1, spec.key.start_field, spec.key.start_char);
  if (text == nullptr) return std::nullopt;
  text = scan_ordering(text, BlankSide::start, spec.letters);
  return *text == '\0' ? std::optional(spec) : std::nullopt;
}

bool scan_obsolete_end(const char* text, KeySpec& spec) {
  Key& key = spec.key;
  text = scan_field_and_char(text + 1, key.end_field, key.end_char);
  if (text == nullptr) return false;
  // "-F" ends before field F (counted from 0), "-F.C" after C characters of it; "-0" is as "-0.0".
  if (key.end_char == 0 && key.end_field != 0) --key.end_field;
  return *scan_ordering(text, BlankSide::end, spec.letters) == '\0';
}

bool position_wraps(const Key& key) {
  constexpr size_t kSafe = size_t{1} << 62;
  const bool end_wraps = key.end_field != Key::kEndOfLine && key.end_field > kSafe;
  return key.start_field > kSafe || key.start_char > kSafe || key.end_char > kSafe || end_wraps;
}

}  // namespace hoist::sort
