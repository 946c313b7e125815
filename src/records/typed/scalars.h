// What one text of a column stands for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "records/date_text.h"
#include "records/reader.h"
#include "records/tokens.h"
#include "records/typed/typed_values.h"

namespace hoist::records::typed {

// Whether it stands for nothing, in a column of numbers, booleans or dates; in one of texts.
bool is_missing(std::string_view text, Format format, ColumnKind kind);
bool is_missing_text(std::string_view text, Format format, ColumnKind kind);

std::optional<bool> boolean(std::string_view text, Format format, ColumnKind kind);

// A number as JSON writes them, with a point or an exponent.
bool is_real(std::string_view text);
// NaN where it is no number; infinity where it is too large.
double real(std::string_view text);

// A number without an exponent in units of 10^-scale. Nothing where it has one, or more digits
// behind the point, or where kMostDigits do not hold it, or for -0, which is no such count.
std::optional<Int128> decimal(std::string_view text, uint8_t scale);
// Digits before and behind the point; nothing where decimal() gives nothing whatever the scale.
struct DecimalSize {
  size_t whole;
  size_t scale;
};
std::optional<DecimalSize> decimal_size(std::string_view text);

// Digits of the unit that holds the form's dates: 0, 3, 6 or 9.
uint8_t unit_of(const DateForm& form);
// A date's count in units of `fraction` digits, in UTC where it has a zone. Nothing where 64 bits
// do not hold it.
std::optional<int64_t> timestamp(const DateForm& form, int64_t count, uint8_t fraction);

// The first rows that are a CSV's header: as many as it has lines.
inline uint64_t header_rows(const RecordReader& reader) {
  const Dialect& dialect = reader.dialect();
  if (dialect.names.empty() || dialect.header_lost) return 0;
  return std::min<uint64_t>(dialect.header_rows, reader.rows());
}

}  // namespace hoist::records::typed
