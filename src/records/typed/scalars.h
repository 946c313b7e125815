// What one text of a column stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "records/date_text.h"
#include "records/reader.h"
#include "records/tokens.h"

namespace hoist::records::typed {

// Whether it stands for nothing, in a column of numbers, booleans or dates; in one of texts.
bool is_missing(std::string_view text, Format format, ColumnKind kind);
bool is_missing_text(std::string_view text, Format format, ColumnKind kind);

std::optional<bool> boolean(std::string_view text, Format format, ColumnKind kind);

// A number as JSON writes them, with a point or an exponent.
bool is_real(std::string_view text);
// NaN where it is no number; infinity where it is too large.
double real(std::string_view text);

// Digits of the unit that holds the form's dates: 0, 3, 6 or 9.
uint8_t unit_of(const DateForm& form);
// A date's count in units of `fraction` digits, in UTC where it has a zone. Nothing where 64 bits
// do not hold it.
std::optional<int64_t> timestamp(const DateForm& form, int64_t count, uint8_t fraction);

// Whether the first row is a CSV's header.
inline bool has_header(const RecordReader& reader) {
  return !reader.dialect().names.empty() && !reader.dialect().header_lost;
}

}  // namespace hoist::records::typed
