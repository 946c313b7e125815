// Files that are read only where no other user can have written them, and where they are kept.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/file.h"

namespace hoist {

// $XDG_CACHE_HOME/hoist or ~/.cache/hoist, which may not exist; `unavailable` where the environment
// names no place, or in a program with raised privileges.
Result<std::string> user_cache_directory();

// Whether the directory is there, belongs to the effective user, and nobody else may write it.
Status check_own_directory(const std::string& path);
// Makes it (mode 0700) with its parents where it is missing, then checks it.
Status make_own_directory(const std::string& path);

// Opens a regular file that belongs to the effective user and that nobody else may write;
// symbolic links are not followed, and nothing that stands there can make the call wait.
Result<UniqueFd> open_own_file(const std::string& path, int flags, mode_t mode = 0600);
// The whole of it, at most `limit` bytes.
Result<std::string> read_own_file(const std::string& path, size_t limit);

}  // namespace hoist
