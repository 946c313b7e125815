#include "records/values.h"

#include <algorithm>
#include <limits>

namespace hoist::records {
namespace {

bool is_nothing(std::string_view text) {
  return text.empty() || text == "null" || text == "NaN" || text == "nan";
}

size_t digits_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end - at;
}

// As in JSON (RFC 8259, 6): no zeros in front, which only names of things have.
bool is_json_number(std::string_view text) {
  size_t at = text.starts_with('-') ? 1 : 0;
  const size_t whole = digits_at(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) return false;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const size_t fraction = digits_at(text, at + 1);
    if (fraction == 0) return false;
    at += 1 + fraction;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const size_t exponent = digits_at(text, at);
    if (exponent == 0) return false;
    at += exponent;
  }
  return at == text.size();
}

// Whether all are numbers, or nothing.
bool are_reals(const std::vector<std::string_view>& texts) {
  return std::all_of(texts.begin(), texts.end(), [](std::string_view text) {
    return is_nothing(text) || is_json_number(text);
  });
}

ValueType type_of_numbers(const DecodedColumn& column) {
  const NumberForm& form = column.numbers.form;
  const std::vector<std::string_view>& exceptions = column.texts.strings;
  const bool is_number = form.type == NumberType::integer || form.type == NumberType::decimal;
  if (!exceptions.empty()) {
    return is_number && are_reals(exceptions) ? ValueType::real : ValueType::text;
  }
  switch (form.type) {
    case NumberType::integer:
      return ValueType::integer;
    case NumberType::decimal:
      return ValueType::real;
    default:  // digits of a fixed width (00042, beef) are names of things, too
      return ValueType::text;
  }
}

}  // namespace

ValueType value_type(const DecodedColumn& column) {
  if (column.type == ColumnType::numbers) return type_of_numbers(column);
  if (column.type == ColumnType::constant && parse_integer(column.texts.strings[0])) {
    return ValueType::integer;
  }
  const std::vector<std::string_view>& texts = column.texts.strings;
  const bool some = std::any_of(texts.begin(), texts.end(), is_json_number);
  return some && are_reals(texts) ? ValueType::real : ValueType::text;
}

Result<std::vector<int64_t>> integers(const DecodedColumn& column) {
  if (value_type(column) != ValueType::integer) {
    return fail(ErrorCode::invalid_argument, "the column's values are no integers");
  }
  if (column.type == ColumnType::numbers) return column.numbers.values;
  return std::vector<int64_t>(column.count, *parse_integer(column.texts.strings[0]));
}

std::vector<double> reals(const DecodedColumn& column) {
  std::vector<double> values;
  values.reserve(column.count);
  for (ColumnCursor cursor(column); !cursor.at_end();) {
    values.push_back(cursor.number().value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return values;
}

TextValues texts(const DecodedColumn& column) {
  TextValues values;
  values.offsets.reserve(column.count + 1);
  values.offsets.push_back(0);
  for (ColumnCursor cursor(column); !cursor.at_end();) {
    const std::string_view text = cursor.text();
    values.bytes.insert(values.bytes.end(), text.begin(), text.end());
    values.offsets.push_back(values.bytes.size());
  }
  return values;
}

}  // namespace hoist::records
