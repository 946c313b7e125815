// Reading a store beside a process that writes to it. RocksDB reads the list of the tables first
// and the logs after it: writes that are moved from a log to a table in between are in neither, and
// look as if they were lost.
//
//   Status read = read_beside_writer("INDEX/store", [&] { return open_once(); });
//
// What is lost is still lost at the next try, with the same files; what was moved is not. So a
// failed `read` is repeated as long as the folder's files are others after it than before it.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"

namespace hoist::match {

inline constexpr std::chrono::milliseconds kReadPatience{10'000};

// The error of `read`; `unavailable` where the files changed during every try for `patience`.
Status read_beside_writer(const std::string& folder, const std::function<Status()>& read,
                          std::chrono::milliseconds patience = kReadPatience);

}  // namespace hoist::match
