// The list of input files that --files0-from names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hoist::sort {

// The NUL-terminated names in `source`, a regular file or "-" for standard input. A list from
// standard input stays readable there: a memory file takes its place. Fails with `unsupported`
// where GNU sort would report an error, or the source cannot be read twice.
Result<std::vector<std::string>> read_file_names(const std::string& source);

}  // namespace hoist::sort
