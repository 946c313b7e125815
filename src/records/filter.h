// Conditions on columns, as in `ts>=1755392220` and `symbol=BTC-USD`.
//
// A column is named by its path, with or without the slash in front. Where both sides are numbers
// they are compared as numbers, else as bytes. Dates are compared as they are written. A row
// without the column does not hold; one with several values holds if one of them does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/block.h"

namespace hoist::records {

enum class Comparison : uint8_t { equal, unequal, less, less_equal, greater, greater_equal };

struct Condition {
  std::string path;
  Comparison comparison = Comparison::equal;
  std::string value;
};

// `invalid_argument` where there is no comparison, or no path before it.
Result<Condition> parse_condition(std::string_view text);

// The number that the condition compares with, where it is one.
std::optional<double> number_of(const Condition& condition);

// Whether some number in the range may hold.
bool may_hold(const Condition& condition, const ColumnRange& range);

// Whether a value that is such a text holds, unless it is a date's.
bool holds(const Condition& condition, std::string_view text);

// Whether the path that a user wrote means this column.
bool is_path(std::string_view written, std::string_view path);

// Sets `keep` to false for all rows for which the condition does not hold; it has an entry for each
// row of the block. Blocks whose ranges show that no row can hold are not decoded.
Status apply(const Condition& condition, const Block& block, std::vector<bool>& keep);

}  // namespace hoist::records
