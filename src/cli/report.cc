#include "cli/report.h"

#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "base/log.h"
#include "base/option_values.h"
#include "takeover/enabled_operations.h"

namespace hoist::cli {

void print_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void warn(std::string_view what) {
  if (log_enabled(LogLevel::warn)) print_error(fmt::format("hoist: warning: {}\n", what));
}

void warn_of_unusable_values() {
  for (const std::string& line : unusable_values()) warn(line);
}

int report(const Error& error) {
  print_error(fmt::format("hoist: error: {}\n", error.message));
  switch (error.code) {
    case ErrorCode::invalid_argument:
      return kUsage;
    case ErrorCode::unavailable:
    case ErrorCode::unsupported:
      return kMissingCapability;
    default:
      return kFailed;
  }
}

}  // namespace hoist::cli
