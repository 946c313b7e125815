#include "cli/help.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/nearest_word.h"
#include "cli/command_name.h"
#include "cli/commands.h"
#include "cli/guides.h"
#include "cli/report.h"
#include "cli/tree.h"

namespace hoist::cli {
namespace {

// Becomes libexec/hoist/hoist-help, which lays a guide out. Returns only where it cannot be
// started.
int show_guide(const std::string& name, bool no_pager) {
  const std::string path = engine_path("help");
  const std::string guide = fmt::format("{}/guides/{}.md", docs_folder(), name);
  std::vector<const char*> argv = {"hoist help", guide.c_str()};
  if (no_pager) argv.push_back("--no-pager");
  argv.push_back(nullptr);
  ::execv(path.c_str(), const_cast<char* const*>(argv.data()));
  return report(
      {ErrorCode::unavailable, fmt::format("cannot start hoist help ({}): install Hoist whole",
                                           path + ": " + std::strerror(errno))});
}

int list_topics(const CLI::App& app) {
  // app.help() would be that of `help`, which was parsed.
  fmt::print("{}",
             app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal));
  const Result<std::vector<Guide>> guides = installed_guides();
  if (!guides) {
    std::fflush(stdout);
    return report(guides.error());
  }
  fmt::print("\nGuides (hoist help TOPIC):\n{}", list_guides(*guides));
  return kDone;
}

bool is_guide(const std::string& word) {
  const Result<std::vector<Guide>> guides = installed_guides();
  return guides && std::any_of(guides->begin(), guides->end(),
                               [&](const Guide& guide) { return guide.name == word; });
}

}  // namespace

int help_command(const CLI::App& app, const HelpOptions& options) {
  if (options.words.empty()) return list_topics(app);
  const std::string& word = options.words[0];
  const size_t most_words = is_tool_command(word) ? 2 : 1;  // its command
  if (options.words.size() > most_words) {
    return report({ErrorCode::invalid_argument,
                   fmt::format("{} is one word too many (hoist help {}): name one guide or command",
                               options.words[most_words], word)});
  }
  if (is_engine_command(word)) return engine_command(word, {"--help"});
  // A guide about a command has its name; the command's own help has --help.
  if (options.words.size() == 1 && is_guide(word)) return show_guide(word, options.no_pager);
  if (is_tool_command(word)) {
    std::vector<std::string> arguments(options.words.begin() + 1, options.words.end());
    arguments.emplace_back("--help");
    return tool_command(word, arguments);
  }
  const auto is_named = [&](const CLI::App* command) { return command->get_name() == word; };
  for (const CLI::App* command : app.get_subcommands(is_named)) {
    fmt::print("{}", command->help(app.get_name()));
    return kDone;
  }
  const Result<std::vector<Guide>> guides = installed_guides();
  if (!guides) return report(guides.error());
  std::vector<std::string> topics;
  for (const Guide& guide : *guides) topics.push_back(guide.name);
  for (const CLI::App* command : app.get_subcommands({})) topics.push_back(command->get_name());
  const std::string nearest = nearest_word(word, topics);
  return report({ErrorCode::invalid_argument,
                 fmt::format("no guide or command {} (hoist help): {}`hoist help` lists them", word,
                             nearest.empty() ? "" : fmt::format("is it {}? ", nearest))});
}

}  // namespace hoist::cli
