// Times as users write them: "200ms", "5s", "2min", "1.5h", "7d".
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace hoist::cli {

inline constexpr std::chrono::days kLongestDuration(365);
// For messages.
inline constexpr std::string_view kDurations =
    "write it as 200ms, 5s, 2min (or 2m), 24h or 7d, at most 365d";

// A number of milliseconds (ms), seconds (s), minutes (min or m), hours (h) or days (d), with a
// point or without; what is more than 0 is at least one millisecond. Nothing for all else.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace hoist::cli
