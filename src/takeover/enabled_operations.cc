#include "takeover/enabled_operations.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "base/option_values.h"

namespace hoist {
namespace {

constexpr size_t kShown = 100;  // characters of a word

}  // namespace

std::optional<hoist_operation_id> find_operation(std::string_view name) {
  const hoist_operation_id id = hoist_find_operation(name.data(), name.size());
  return id == HOIST_OPERATIONS ? std::nullopt : std::optional(id);
}

bool operation_enabled(hoist_operation_id operation) {
  return hoist_list_enables(option_text(OptionId::ops), operation,
                            hoist_operations[operation].is_on_by_default);
}

bool operation_enabled(std::string_view name) {
  const auto operation = find_operation(name);
  return operation && operation_enabled(*operation);
}

bool operation_allowed(std::string_view name) {
  const auto operation = find_operation(name);
  return operation && hoist_list_enables(option_text(OptionId::ops), *operation, true);
}

std::optional<std::string> unknown_operation(std::string_view list) {
  const std::string copy(list);
  const char* at = copy.c_str();
  hoist_listed_operation word;
  while (hoist_next_operation(&at, &word)) {
    if (word.id == HOIST_OPERATIONS) return std::string(word.name, word.length);
  }
  return std::nullopt;
}

std::vector<std::string> unusable_values() {
  std::vector<std::string> lines;
  const char* at = option_text(OptionId::ops);
  hoist_listed_operation word;
  while (hoist_next_operation(&at, &word)) {
    if (word.id != HOIST_OPERATIONS) continue;
    lines.push_back(
        fmt::format("no operation {} (HOIST_OPS): it is left out, `hoist options` lists them",
                    std::string_view(word.name, std::min(word.length, kShown))));
  }
  for (std::string& line : unusable_option_values()) lines.push_back(std::move(line));
  return lines;
}

void log_unusable_values() {
  static std::atomic<bool> is_done{false};
  if (!log_enabled(LogLevel::warn) || is_done.exchange(true)) return;
  for (const std::string& line : unusable_values()) log_line(LogLevel::warn, line);
}

}  // namespace hoist
