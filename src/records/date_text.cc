#include "records/date_text.h"

#include <algorithm>
#include <cstring>

namespace hoist::records {
namespace {

constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr int64_t kDay = 86400;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether the text begins as the pattern says: 0 a digit, a a letter, else the character.
bool fits(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = text[i];
    const bool right = pattern[i] == '0'   ? is_digit(c)
                       : pattern[i] == 'a' ? (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                                           : c == pattern[i];
    if (!right) return false;
  }
  return true;
}

int digits(std::string_view text, size_t at, size_t count) {
  int value = 0;
  for (size_t i = at; i < at + count; ++i) value = value * 10 + (text[i] - '0');
  return value;
}

// Days of the proleptic Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level Date
// Algorithms").
int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct Civil {
  int64_t year, month, day;
};

Civil civil_from_days(int64_t days) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t of_era = days - era * 146097;
  const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const int64_t month = (5 * of_year + 2) / 153;
  return {year + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9,
          of_year - (153 * month + 2) / 5 + 1};
}

constexpr std::string_view kDatePattern = "0000-00-00";
constexpr std::string_view kTimePattern = "00:00:00";
constexpr std::string_view kCommonPattern = "00/aaa/0000:00:00:00";

size_t zone_bytes(std::string_view text) {
  if (text.starts_with('Z')) return 1;
  for (const std::string_view pattern : {"+00:00", "-00:00", "+0000", "-0000"}) {
    if (fits(text, pattern)) return pattern.size();
  }
  return 0;
}

// The size of a fraction that the text begins with, its point included.
size_t fraction_bytes(std::string_view text) {
  if (text.size() < 2 || (text[0] != '.' && text[0] != ',')) return 0;
  size_t size = 1;
  while (size < text.size() && is_digit(text[size])) ++size;
  return size > 1 && size <= 10 ? size : 0;
}

// The form of what `text` begins with, and how long that is; 0: no date.
size_t find_form(std::string_view text, DateForm& form) {
  size_t size = 0;
  if (fits(text, kDatePattern)) {
    form.style = DateForm::date;
    size = kDatePattern.size();
    const std::string_view rest = text.substr(size);
    if (rest.size() < 9 || (rest[0] != 'T' && rest[0] != ' ') ||
        !fits(rest.substr(1), kTimePattern)) {
      return size;
    }
    form.style = DateForm::date_time;
    form.between = rest[0];
    size += 1 + kTimePattern.size();
  } else if (fits(text, kCommonPattern)) {
    form.style = DateForm::common_log;
    size = kCommonPattern.size();
    if (fits(text.substr(size), " +0000") || fits(text.substr(size), " -0000")) {
      form.zone = text.substr(size, 6);
    }
    return size + form.zone.size();
  } else if (fits(text, kTimePattern)) {
    form.style = DateForm::time;
    size = kTimePattern.size();
  } else {
    return 0;
  }
  if (const size_t fraction = fraction_bytes(text.substr(size)); fraction > 0) {
    form.point = text[size];
    form.fraction = static_cast<uint8_t>(fraction - 1);
    size += fraction;
  }
  form.zone = text.substr(size, zone_bytes(text.substr(size)));
  return size + form.zone.size();
}

char* put(char* out, uint64_t value, int width) {
  for (int i = width - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
  return out + width;
}

char* put_time(char* out, int64_t second) {
  out = put(out, static_cast<uint64_t>(second / 3600), 2);
  *out++ = ':';
  out = put(out, static_cast<uint64_t>(second / 60 % 60), 2);
  *out++ = ':';
  return put(out, static_cast<uint64_t>(second % 60), 2);
}

char* put_text(char* out, std::string_view text) {
  return std::copy(text.begin(), text.end(), out);
}

int month_number(std::string_view name) {
  for (size_t i = 0; i < 12; ++i) {
    if (kMonths.substr(3 * i, 3) == name) return static_cast<int>(i) + 1;
  }
  return 0;
}

}  // namespace

size_t date_bytes(std::string_view text) {
  DateForm form;
  return find_form(text, form);
}

std::optional<DateForm> date_form(std::string_view text) {
  DateForm form;
  if (text.empty() || find_form(text, form) != text.size()) return std::nullopt;
  return form;
}

int64_t date_units(const DateForm& form) {
  int64_t units = 1;
  for (int i = 0; i < form.fraction; ++i) units *= 10;
  return units;
}

std::optional<int64_t> parse_date(const DateForm& form, std::string_view text) {
  DateForm found;
  if (text.empty() || find_form(text, found) != text.size() || found != form) return std::nullopt;
  int64_t days = 0;
  size_t time = 0;
  if (form.style == DateForm::date || form.style == DateForm::date_time) {
    days = days_from_civil(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2));
    time = kDatePattern.size() + 1;
  } else if (form.style == DateForm::common_log) {
    days = days_from_civil(digits(text, 7, 4), month_number(text.substr(3, 3)), digits(text, 0, 2));
    time = 12;
  }
  int64_t count = days * kDay;
  if (form.style != DateForm::date) {
    count +=
        digits(text, time, 2) * 3600 + digits(text, time + 3, 2) * 60 + digits(text, time + 6, 2);
  }
  const int64_t units = date_units(form);
  // The year 9999 in nanoseconds does not fit.
  if (__builtin_mul_overflow(count, units, &count)) return std::nullopt;
  if (form.fraction > 0) count += digits(text, time + 9, form.fraction);
  char again[kMaxDateBytes];
  const char* end = render_date(form, count, again);
  if (std::string_view(again, static_cast<size_t>(end - again)) != text) return std::nullopt;
  return count;
}

char* render_date(const DateForm& form, int64_t count, char* out) {
  const int64_t units = date_units(form);
  int64_t seconds = count / units;
  int64_t fraction = count % units;
  if (fraction < 0) {
    fraction += units;
    --seconds;
  }
  int64_t days = seconds / kDay;
  int64_t second = seconds % kDay;
  if (second < 0) {
    second += kDay;
    --days;
  }
  // Years of more than four digits, which no text had, are cut to keep to the room.
  const Civil civil = civil_from_days(days);
  const uint64_t year = static_cast<uint64_t>(civil.year) % 10000;
  const auto month = static_cast<uint64_t>(civil.month);
  const auto day = static_cast<uint64_t>(civil.day);
  if (form.style == DateForm::common_log) {
    out = put(out, day, 2);
    *out++ = '/';
    out = put_text(out, kMonths.substr(3 * (month - 1), 3));
    *out++ = '/';
    out = put(out, year, 4);
    *out++ = ':';
    return put_text(put_time(out, second), form.zone);
  }
  if (form.style != DateForm::time) {
    out = put(out, year, 4);
    *out++ = '-';
    out = put(out, month, 2);
    *out++ = '-';
    out = put(out, day, 2);
    if (form.style == DateForm::date) return put_text(out, form.zone);
    *out++ = form.between;
  }
  out = put_time(out, second);
  if (form.fraction > 0) {
    *out++ = form.point;
    out = put(out, static_cast<uint64_t>(fraction), form.fraction);
  }
  return put_text(out, form.zone);
}

}  // namespace hoist::records
