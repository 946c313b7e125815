// Conditions on columns, as in `ts>=1755392220`, `symbol=BTC-USD` and `"a<b"=5`.
//
// A column is named by its path, with or without the slash in front; between double quotes where
// the path has `<`, `=`, `>`, `!` or a quote, which is doubled there. Whether a row holds depends
// on its text alone:
//
// - Where the condition's value and that of the row are numbers (exact_number.h), they are compared
//   as numbers, exactly.
// - Where the condition's value is a number and that of the row is none, the row holds for `!=`
//   only: `null` is neither more nor less than 5. Dates, addresses and names made of the digits of
//   base 16 with one of base 10 among them (68a128dc, 00042) are compared as bytes, though.
// - Where the condition's value is no number, bytes are compared.
//
// A row without the column does not hold; one with several values holds if one of them does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/block.h"
#include "records/exact_number.h"

namespace hoist::records {

enum class Comparison : uint8_t { equal, unequal, less, less_equal, greater, greater_equal };

struct Condition {
  std::string path;
  Comparison comparison = Comparison::equal;
  std::string value;
};

// `invalid_argument` where there is no comparison, or no path before it.
Result<Condition> parse_condition(std::string_view text);

// A path as it is written in front of a comparison or a comma, and how much of `text` it takes. The
// path ends at one of `ends`, or at the end. Nothing where a quote is open, or something other than
// an end follows the closing one.
struct WrittenPath {
  std::string path;
  size_t size = 0;
};
std::optional<WrittenPath> read_path(std::string_view text, std::string_view ends);

// The number that the condition compares with, where it is one. It points into the condition.
std::optional<ExactNumber> number_of(const Condition& condition);

// Whether some value of the column may hold, by its range of numbers.
bool may_hold(const Condition& condition, const BlockColumn& column);

// Whether a value holds that is such a text.
bool holds(const Condition& condition, std::string_view text);

// Whether the path that a user wrote means this column.
bool is_path(std::string_view written, std::string_view path);

// Sets `keep` to false for all rows for which the condition does not hold; it has an entry for each
// row of the block. Columns of numbers whose range shows that no row can hold are not decoded.
Status apply(const Condition& condition, const Block& block, std::vector<bool>& keep);

}  // namespace hoist::records
