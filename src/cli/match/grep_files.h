// The files that `hoist match grep` reads: those that are named, and with -r those in folders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/file.h"

namespace hoist::cli {

struct GrepFile {
  UniqueFd fd;
  std::string name;   // as it is shown before lines
  std::string place;  // as errors name it
};

// Calls `take` for each file in order, a folder's by name, and `refuse` for what cannot be read.
// Neither symbolic links nor devices inside folders are followed. Once one gives false, it returns.
void for_each_grep_file(const std::vector<std::string>& paths, bool recursive,
                        const std::function<bool(GrepFile)>& take,
                        const std::function<bool(const Error&)>& refuse);

}  // namespace hoist::cli
