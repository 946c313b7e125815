#include "cli/tool.h"

#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "base/log.h"
#include "cli/command_name.h"
#include "cli/report.h"

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

int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<int()>& command) {
  const std::string known = fmt::format("{} has {}", app.get_name(), command_names(app));
  if (Status named = check_command(app, argc > 1 ? argv[1] : "", known); !named) {
    return report(named.error());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kDone;
  } catch (const CLI::ParseError& error) {
    return report({ErrorCode::invalid_argument, fmt::format("{} (on the command line): `{} --help`",
                                                            error.what(), parsed_command(app))});
  }
  warn_of_unusable_values();
  return command();
}

}  // namespace

int run_tool(CLI::App& app, int argc, char** argv, const std::function<int()>& command) {
  log_to_stderr();
  try {
    const int status = parse_and_run(app, argc, argv, command);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  } catch (const std::exception& error) {  // out of memory, or standard output takes no more
    return report({ErrorCode::io, error.what()});
  }
  return report({ErrorCode::io, "cannot write (standard output): is it full?"});
}

void add_force(CLI::App* command, bool& force) {
  command->add_flag("--force", force, "Replace the output where it exists");
}

CLI::Validator count() {
  const auto check = [](const std::string& text) -> std::string {
    const bool is_count = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    return is_count ? std::string() : fmt::format("{} is no whole number from 0", text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator number_in(double low, double high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return {};
    return fmt::format("{} is not from {} to {}", text, low, high);
  };
  return CLI::Validator(check, fmt::format("in [{} - {}]", low, high));
}

}  // namespace hoist::cli
