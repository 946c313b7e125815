#include "cli/report.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
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

namespace {

// What mends a failed system call whose message ends with its reason; empty where the message says
// it, or nothing is known.
std::string_view mend_of(const Error& error) {
  const bool ends_with_reason =
      error.system_errno != 0 && error.message.ends_with(std::strerror(error.system_errno));
  if (!ends_with_reason) return "";
  switch (error.system_errno) {
    case ENOENT:
    case ENOTDIR:
      return ": check the path";
    case EACCES:
    case EPERM:
      return ": check the permissions";
    default:
      return "";
  }
}

}  // namespace

int report(const Error& error) {
  print_error(fmt::format("hoist: error: {}{}\n", error.message, mend_of(error)));
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
