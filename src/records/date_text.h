// Dates and times as text, and as a count of the smallest unit that they show.
//
//   2024-01-31   2024-01-31T13:55:36.250Z   2024-01-31 13:55:36,250   31/Jan/2024:13:55:36 +0100
//   13:55:36     13:55:36.250
//
// The count is that of the time as it is written, from 1970-01-01 00:00:00 on (for a time alone,
// from midnight): the zone is part of the form, not of the count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hoist::records {

struct DateForm {
  enum Style : uint8_t { date = 0, date_time = 1, common_log = 2, time = 3 };
  Style style = date;
  char between = 'T';    // date_time: date and time
  char point = '.';      // before the fraction
  uint8_t fraction = 0;  // digits of it, 0 to 9
  std::string zone;      // what follows, at most 6 bytes

  friend bool operator==(const DateForm&, const DateForm&) = default;
};

// The size of the date that `text` begins with; 0: it begins with none.
size_t date_bytes(std::string_view text);

// The form of a text that is a date and nothing else.
std::optional<DateForm> date_form(std::string_view text);

// Nothing where rendering would not give the same text.
std::optional<int64_t> parse_date(const DateForm& form, std::string_view text);

inline constexpr size_t kMaxDateBytes = 48;
// Writes at most kMaxDateBytes, whatever the count is; gives the end.
char* render_date(const DateForm& form, int64_t count, char* out);

// Units of a second that the count has: 1, 10, … 10^9.
int64_t date_units(const DateForm& form);

}  // namespace hoist::records
