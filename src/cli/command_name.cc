#include "cli/command_name.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/nearest_word.h"

namespace hoist::cli {
namespace {

// As the user typed it: `hoist match build`.
std::string parsed_command(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

const CLI::App& parsed_app(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

// What is wrong, and which word may be meant.
struct Reason {
  std::string what;
  std::string nearest = {};
};

Reason reason_of_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  for (const std::string& extra : extras) {
    if (!extra.starts_with('-')) continue;
    const std::string option = extra.substr(0, extra.find('='));
    return {"no option " + option, nearest_word(option, option_names(parsed_app(app)))};
  }
  return {fmt::format("{} is one argument too many", extras.empty() ? "" : extras.front())};
}

// The parser's own texts, in the words of the other messages. A text that is not known stays.
Reason reason_of(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return reason_of_extras(app);
  static const std::regex one_of("(.*): (.*) not in \\{(.*)\\}");
  static const std::regex missing("(.*): .* required (.*) missing");
  static const std::regex unconverted("Could not convert: (.*) = (.*)");
  const std::string text = error.what();
  std::smatch part;
  if (std::regex_match(text, part, one_of)) {
    const std::vector<std::string> known = split_at_commas(part[3]);
    return {
        fmt::format("{} {} is not one of {}", part[1].str(), part[2].str(), fmt::join(known, ", ")),
        nearest_word(part[2].str(), known)};
  }
  if (std::regex_match(text, part, missing)) {
    return {fmt::format("{} needs a value, {}", part[1].str(), part[2].str())};
  }
  if (std::regex_match(text, part, unconverted)) {
    return {fmt::format("{} takes no such value: {}", part[1].str(), part[2].str())};
  }
  return {text};
}

}  // namespace

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
  const Reason reason = reason_of(app, error);
  return {ErrorCode::invalid_argument,
          fmt::format("{} ({}): {}see `{} --help`", reason.what, command,
                      reason.nearest.empty() ? "" : fmt::format("is it {}? ", reason.nearest),
                      command)};
}

std::string command_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

}  // namespace hoist::cli
