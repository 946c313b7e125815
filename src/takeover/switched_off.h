// The note about operations that --verify switched off: $XDG_CACHE_HOME/hoist/switched-off (or
// under ~/.cache), one line an operation. It counts until somebody removes the line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hoist {

// Empty where the environment names no home.
std::string switched_off_path();

// The line about `operation`, if there is one. A note that cannot be trusted (another owner,
// writable by others, no regular file, too large) stands for every operation.
std::optional<std::string> switched_off(std::string_view operation);

// Adds a line. Several processes may do so at once.
void switch_off(std::string_view operation, std::string_view why);

}  // namespace hoist
