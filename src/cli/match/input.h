// Patterns of a file, one after the other into an index.
#pragma once

#include <functional>
#include <string>

#include "cli/match/line_reader.h"
#include "match/json/pattern_line.h"

namespace hoist::cli {

// Calls `take` for each line that is not blank, and gives the number of those that are; an error of
// it, or of the line, names the line.
using TakePattern = std::function<Status(const match::PatternLine& line, uint64_t number)>;
Result<uint64_t> read_patterns(LineReader& reader, const std::string& format,
                               const TakePattern& take);

}  // namespace hoist::cli
