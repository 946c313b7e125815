// Questions to hoistd that need no session.
#pragma once

#include <string>

#include "base/result.h"

namespace hoist::device::remote {

// The JSON of `hoistd --status` from the daemon at `path`; empty: the first that answers of
// socket_paths(). `not_found` where none listens, `unavailable` where none answers.
Result<std::string> ask_status(const std::string& path);

}  // namespace hoist::device::remote
