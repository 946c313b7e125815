#include "cli/command_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace hoist::cli {
namespace {

// Letters to insert, delete or replace to get from one to the other (Levenshtein).
size_t distance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t k = 0; k < to.size(); ++k) {
      const size_t replaced = diagonal + (from[i] == to[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({replaced, diagonal + 1, row[k] + 1});
    }
  }
  return row.back();
}

// As the user typed it: `hoist match build`.
std::string parsed_command(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  std::string nearest;
  size_t best = 3;  // more changes than two make another word
  for (const std::string& candidate : known) {
    const size_t changes = distance(word, candidate);
    if (changes < std::min(best, word.size())) {
      best = changes;
      nearest = candidate;
    }
  }
  return nearest;
}

Status check_command(const CLI::App& app, const std::string& word, const std::string& known) {
  const auto commands = app.get_subcommands({});
  if (commands.empty() || word.starts_with('-')) return {};
  if (word.empty()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("no command is given ({}): {}", app.get_name(), known));
  }
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return {};
  const std::string nearest = nearest_word(word, names);
  return fail(ErrorCode::invalid_argument,
              fmt::format("no command {} ({}): {}{}", word, app.get_name(),
                          nearest.empty() ? "" : fmt::format("is it {}? ", nearest), known));
}

Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::string command = parsed_command(app);
  return {ErrorCode::invalid_argument,
          fmt::format("{} ({}): see `{} --help`", error.what(), command, command)};
}

std::string command_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

}  // namespace hoist::cli
