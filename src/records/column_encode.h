// From the columns of a block of text to their bytes (docs/reference/hrec.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/byte_stream.h"
#include "records/column.h"
#include "records/tokens.h"

namespace hoist::records {

struct EncodedColumn {
  uint32_t source;  // number in Tokens::columns
  ColumnType type;
  std::string bytes;
  uint64_t text_bytes = 0;  // of its values
  std::optional<ColumnRange> range;
};

// All columns, each behind those that it is predicted from.
std::vector<EncodedColumn> encode_columns(const Tokens& tokens, Effort effort);

}  // namespace hoist::records
