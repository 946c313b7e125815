#include "records/values.h"

#include <algorithm>
#include <limits>

#include "records/json_number.h"

namespace hoist::records {
namespace {

bool is_nothing(std::string_view text) {
  return text.empty() || text == "null" || text == "NaN" || text == "nan";
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
