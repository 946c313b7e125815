// Diagnostics for people who look for them: HOIST_LOG=error|warn|info|debug (default: warn) into
// HOIST_LOG_FILE. Without a log file nothing is written from inside somebody else's program: the
// CLI alone logs to stderr (log_to_stderr()). Messages are single lines, capped at 1 KiB.
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace hoist {

enum class LogLevel { error, warn, info, debug };

void log_to_stderr();
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view message);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace hoist
