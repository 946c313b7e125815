// A column's values as plain arrays.
//
//   Result<ColumnValues> read = block.read(3);
//   switch (value_type(*read->column)) {
//     case ValueType::integer: std::vector<int64_t> values = integers(*read->column).value(); …
//
// Which type a column of a block has depends on its texts alone:
//
//   integer   canonical integers
//   real      other numbers as JSON writes them, with null, NaN or nothing here and there
//   text      all else: words, dates, addresses, digits of a fixed width, mixtures
//
// A later block may have another one; the larger of them holds both.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "records/column.h"

namespace hoist::records {

enum class ValueType : uint8_t { integer, real, text };

ValueType value_type(const DecodedColumn& column);

// `invalid_argument` where the type is another one.
Result<std::vector<int64_t>> integers(const DecodedColumn& column);

// The values of any column; NaN where a value does not read as a number. Dates are seconds, as
// written.
std::vector<double> reals(const DecodedColumn& column);

// Value i is bytes[offsets[i], offsets[i + 1]).
struct TextValues {
  std::vector<char> bytes;
  std::vector<uint64_t> offsets;  // one more than there are values
};
TextValues texts(const DecodedColumn& column);

}  // namespace hoist::records
