// Files of records in Arrow's IPC format, as a file or as a stream: a record batch a block.
//
//   Status done = write_arrow(reader, {.names = {"price"}}, write);
//
// The file is decoded twice: once for the types, once for the values. Memory is that of a few
// blocks, and the dictionaries of texts, at most 8 MiB a column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/reader.h"

namespace hoist::records::arrow {

struct ArrowOptions {
  std::vector<std::string> names;  // of columns; none: all
  ReadOptions rows = {};           // a CSV's header is none of them
  bool decimals = true;            // else decimal numbers are float64, the nearest
  bool as_file = true;             // else a stream
};

// `not_found` where there is no such column, `unsupported` where the file has none.
Status write_arrow(const RecordReader& reader, const ArrowOptions& options, const WriteText& write);

}  // namespace hoist::records::arrow
