// Columns of records as Arrow files and streams.
#pragma once

#include <string>

#include "records/arrow/arrow_output.h"

namespace hoist::cli {

// Whether the output is to be Arrow: by `to`, or by its name where that is empty.
bool is_arrow(const std::string& to, const std::string& output);

// A file, or a stream where the output is "-" or its name ends in .arrows.
Status write_arrow(const records::RecordReader& reader, records::arrow::ArrowOptions options,
                   const std::string& output, bool force);

}  // namespace hoist::cli
