#include "cli/report.h"

#include <fmt/core.h>

#include <cstdio>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/options.h"

namespace hoist::cli {

void print_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void warn(std::string_view what) {
  if (log_enabled(LogLevel::warn)) print_error(fmt::format("hoist: warning: {}\n", what));
}

void warn_of_unknown_operations() {
  const std::optional<std::string> unknown = unknown_operation(option_text(OptionId::ops));
  if (unknown) {
    warn(fmt::format("no operation {} (HOIST_OPS): `hoist options` lists them", *unknown));
  }
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
