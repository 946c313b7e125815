// What the columns of a file of records take, over all its blocks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "records/reader.h"

namespace hoist::cli {

// A column over all blocks.
struct ColumnFacts {
  uint64_t values = 0;
  uint64_t text_bytes = 0;
  uint64_t bytes = 0;
  // The types that it has in some block, with the bytes that those take.
  std::map<records::ColumnType, uint64_t> types;
  std::optional<records::ColumnRange> range;
  bool has_range = true;  // in every block

  void add(const records::BlockColumn& column);
};

struct RecordsFacts {
  // By path and what stands there, in the order of first appearance.
  std::vector<std::pair<std::pair<std::string, records::ColumnKind>, ColumnFacts>> columns;
  std::map<std::string_view, uint64_t> formats;
  uint64_t column_bytes = 0;
  uint64_t shapes = 0;
  Status read;  // why not all blocks are counted
};

// "bare", "text", …
std::string_view kind_of(records::ColumnKind kind);

// Looks at the header of every block that can be read.
RecordsFacts gather_facts(const records::RecordReader& reader);

}  // namespace hoist::cli
