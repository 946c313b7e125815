// A column of a block: its type, and its values decoded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "records/number_column.h"
#include "records/string_stream.h"

namespace hoist::records {

// As written into files.
enum class ColumnType : uint8_t {
  constant = 0,    // one text
  strings = 1,     // texts
  dictionary = 2,  // distinct texts, and a code for each value
  numbers = 3,     // number_column.h
  copy = 4,        // of another column
  composed = 5,    // texts with parts that are texts of other columns (composition.h)
};

std::string_view name(ColumnType type);

// The least and the largest number of a column whose values are all numbers.
struct ColumnRange {
  double least;
  double most;
};

struct DecodedColumn {
  // Not copy: such a column is that which it copies. Where it is composed, texts are patterns;
  // blocks give such a column as strings.
  ColumnType type = ColumnType::constant;
  size_t count = 0;
  // constant: the text. dictionary: the entries. strings: the texts. numbers: those of exceptions.
  DecodedStrings texts;
  std::vector<int64_t> codes;  // dictionary
  NumberColumn numbers;
};

using DecodedColumns = std::vector<std::shared_ptr<const DecodedColumn>>;

// Decodes column number `before.size()` of a block; its sources are among `before`, where columns
// that nobody needs may be null. `corrupt` where one of them is needed. Allocates for `count`
// values, which the caller bounds, and for `most_bytes` of texts.
Result<std::shared_ptr<const DecodedColumn>> decode_column(std::span<const std::byte> bytes,
                                                           size_t count,
                                                           const DecodedColumns& before,
                                                           uint64_t most_bytes);

// The columns that a column's values are made from, by the first of its bytes.
Result<std::vector<uint32_t>> sources_of(std::span<const std::byte> bytes, size_t columns_before);

// Goes over a column's values in order.
class ColumnCursor {
 public:
  explicit ColumnCursor(const DecodedColumn& column) : column_(&column) {}

  bool at_end() const { return next_ == column_->count; }

  // Writes the next value's text and gives its end; nullptr where it does not fit in front of
  // `end`, or there is no further value.
  char* render(char* out, char* end);

  // The next value as a text, which lives until the next call.
  std::string_view text();
  // As a number, and whether it is one. Exceptions and texts are read as decimal numbers; those
  // beyond the range of doubles are infinity or 0.
  std::optional<double> number();
  // A column of lengths; -1 where there is no further.
  int64_t length();

 private:
  // Whether the next value is an exception; moves on.
  bool take_exception();

  const DecodedColumn* column_;
  size_t next_ = 0;
  size_t exception_ = 0;
  size_t number_ = 0;
  char buffer_[kMaxNumberBytes];
};

}  // namespace hoist::records
