// What a column's texts are: the first step from columns of a block of text to bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/byte_stream.h"
#include "records/column.h"
#include "records/prediction_search.h"
#include "records/sources.h"
#include "records/tokens.h"

namespace hoist::records {

struct AnalysedColumn {
  ColumnType type = ColumnType::strings;
  std::vector<std::string_view> texts;  // all of them; not of lengths
  uint64_t text_bytes = 0;
  NumberColumn numbers;
  std::vector<std::string_view> entries;
  std::vector<int64_t> codes;
  uint32_t copied = 0;
  // composed: numbers of columns, and what they leave of each text (composition.h).
  std::vector<uint32_t> text_sources;
  std::vector<char> pattern_bytes;
  std::vector<std::string_view> patterns;
  size_t text_depth = 0;  // more than those of its text sources; 0: it has none

  // None where the column has neither numbers nor codes.
  NumberRows rows() const {
    if (type == ColumnType::dictionary)
      return {.numbers = codes, .exceptions = {}, .count = codes.size()};
    if (type != ColumnType::numbers) return {};
    const size_t count = numbers.values.size() + numbers.exceptions.size();
    return {.numbers = numbers.values, .exceptions = numbers.exceptions, .count = count};
  }
  Sequence sequence() const {
    return {.rows = rows(), .form = type == ColumnType::numbers ? &numbers.form : nullptr};
  }
};

std::vector<AnalysedColumn> analyse_columns(const Tokens& tokens, Effort effort);

}  // namespace hoist::records
