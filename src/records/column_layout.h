// Where the parts of a column's bytes lie: what can be said of it without decoding it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "records/column.h"
#include "records/prediction.h"

namespace hoist::records {

// Numbers, or codes of a dictionary.
struct SequenceLayout {
  Prediction prediction;
  size_t count = 0;
  bool stores_first = false;
  int64_t first = 0;                    // if it is stored
  std::span<const std::byte> integers;  // a stream of the other differences

  size_t differences() const { return count - (stores_first ? 1 : 0); }
};

struct ColumnLayout {
  ColumnType type = ColumnType::constant;
  uint32_t copied = 0;                 // copy: the column that it is
  std::vector<uint32_t> text_sources;  // composed: the columns whose texts are in it
  std::span<const std::byte> text;     // constant
  SequenceLayout sequence;             // dictionary, numbers
  NumberForm form;                     // numbers
  bool has_digits = false;             // numbers: each has its own number of digits
  std::span<const std::byte> digits;
  size_t texts = 0;                 // strings, entries of the dictionary, exceptions from numbers
  std::span<const std::byte> gaps;  // integers: distances between exceptions
  uint64_t first_exception = 0;
  std::span<const std::byte> strings;  // the texts, to the end
};

// The bytes hold `count` values; `columns_before` columns are in front of it. `corrupt` where they
// cannot be so.
Result<ColumnLayout> read_layout(std::span<const std::byte> bytes, size_t count,
                                 size_t columns_before);

// Positions of the exceptions, ascending, below `count`.
Result<std::vector<int64_t>> exceptions_of(const ColumnLayout& layout, size_t count);

// The texts, of at most `most_bytes` together.
Result<DecodedStrings> texts_of(const ColumnLayout& layout, uint64_t most_bytes);

}  // namespace hoist::records
