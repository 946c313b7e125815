#include "records/values.h"

#include <algorithm>
#include <limits>

#include "records/exact_number.h"
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

// NaN where the text is no number.
double real_of(std::string_view text) {
  return nearest_double(text).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::vector<double> reals_of_numbers(const DecodedColumn& column) {
  const NumberColumn& numbers = column.numbers;
  std::vector<double> values(numbers.values.size());
  numbers_of(numbers.form, numbers.values, values);
  if (numbers.exceptions.empty()) return values;
  std::vector<double> all;
  all.reserve(column.count);
  size_t next = 0;
  for (size_t i = 0; i < numbers.exceptions.size(); ++i) {
    const size_t end = static_cast<size_t>(numbers.exceptions[i]) - i;
    all.insert(all.end(), values.begin() + static_cast<ptrdiff_t>(next),
               values.begin() + static_cast<ptrdiff_t>(end));
    all.push_back(real_of(column.texts.strings[i]));
    next = end;
  }
  all.insert(all.end(), values.begin() + static_cast<ptrdiff_t>(next), values.end());
  return all;
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
  const std::vector<std::string_view>& texts = column.texts.strings;
  switch (column.type) {
    case ColumnType::constant:
      return std::vector<double>(column.count, real_of(texts[0]));
    case ColumnType::dictionary: {
      std::vector<double> entries;
      entries.reserve(texts.size());
      for (const std::string_view text : texts) entries.push_back(real_of(text));
      std::vector<double> values;
      values.reserve(column.count);
      for (const int64_t code : column.codes) values.push_back(entries[static_cast<size_t>(code)]);
      return values;
    }
    case ColumnType::numbers:
      return reals_of_numbers(column);
    default: {
      std::vector<double> values;
      values.reserve(column.count);
      for (const std::string_view text : texts) values.push_back(real_of(text));
      return values;
    }
  }
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
