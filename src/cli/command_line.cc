#include "cli/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/command.h"
#include "cli/command_name.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/help.h"
#include "cli/report.h"
#include "takeover/operations.h"
#include "takeover/takeover.h"

namespace hoist::cli {
namespace {

constexpr char kVersion[] = "hoist " HOIST_VERSION;

// Cuts PROGRAM and its arguments off `hoist run …`: from behind "--", else from the first word that
// is not an option. The program's own options are never looked at.
Result<std::vector<std::string>> split_program(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] != "run") return {};
  size_t at = 1;
  while (at < arguments.size() && arguments[at].starts_with('-') && arguments[at] != "--") {
    const bool takes_next = arguments[at] == "--ops" || arguments[at] == "--verify";
    if (takes_next && (at + 1 >= arguments.size() || arguments[at + 1].starts_with("--"))) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} lacks its value (hoist run): give {}", arguments[at],
                              arguments[at] == "--ops" ? "--ops=LIST" : "--verify=RATE"));
    }
    at += takes_next ? 2 : 1;
  }
  at = std::min(at, arguments.size());
  // `--stats FILE -- PROGRAM`: FILE would be the program.
  const bool is_stats_file = at + 1 < arguments.size() && arguments[at - 1] == "--stats" &&
                             arguments[at + 1] == "--" && find_program(arguments[at]).empty();
  if (is_stats_file) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--stats takes its file behind a = (hoist run): write "
                            "--stats={}",
                            arguments[at]));
  }
  const size_t first = at < arguments.size() && arguments[at] == "--" ? at + 1 : at;
  std::vector<std::string> program(arguments.begin() + static_cast<ptrdiff_t>(first),
                                   arguments.end());
  arguments.resize(at);
  return program;
}

class RunFormatter : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option*) const override { return "-- PROGRAM ARGS…"; }
};

// The names of operations, and signs that change what is on by default.
std::string listed_operations() {
  std::string names;
  std::string changes;
  for (const hoist_operation& operation : hoist_operations) {
    names += fmt::format("{} ", operation.name);
    changes += fmt::format(" {}{}", operation.is_on_by_default ? '-' : '+', operation.name);
  }
  return names.substr(0, names.size() - 1) + changes;
}

// `empty_name`: `--stats=`, which the parser takes for `--stats`.
void add_run(CLI::App& app, std::vector<std::string> program, bool empty_name, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run a program with its heavy work taken over");
  auto options = std::make_shared<RunOptions>();
  options->program = std::move(program);
  command->formatter(std::make_shared<RunFormatter>());
  command->add_option("PROGRAM")->group("");  // split_program() has cut it off
  suggest(command->add_option("--ops", options->operations, "Operations: NAME,… or +NAME or -NAME"),
          listed_operations())
      ->type_name("LIST");
  auto stats_file = std::make_shared<std::string>();
  CLI::Option* stats =
      command
          ->add_option("--stats", *stats_file,
                       "Say what ran where: on standard error, or as JSON into FILE")
          ->expected(0, 1)
          ->type_name("[=FILE]");
  command
      ->add_option("--verify", options->verify,
                   "Replay this share of the calls on the original and compare")
      ->type_name("RATE");
  command->add_flag("--explain", options->explain, "Say for each program why, on standard error");
  command->footer(
      "The program and its arguments follow behind \"--\".\n\n"
      "Examples:\n"
      "  hoist run -- sort -n huge.txt\n"
      "  hoist run --stats=stats.json -- make checksums\n"
      "  hoist run --explain --ops -gunzip -- sh -c 'zcat log.gz | sort'");
  command->callback([&status, options, stats, stats_file, empty_name] {
    options->stats = stats->count() > 0;
    if (empty_name || !stats_file->empty()) options->stats_file = *stats_file;
    status = run_command(*options);
  });
}

void add_top(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("top", "Show the live counters of running programs");
  auto options = std::make_shared<TopOptions>();
  command->add_flag("--once", options->once, "Print once and end");
  command->add_flag("--json", options->json, "Print as JSON");
  command->add_option("--interval", options->interval, "Seconds between two looks")
      ->check(number_in(0.05, 3600));
  command->footer(
      "Shows runs that are counted: with --stats, --verify or --explain, or HOIST_STATS set.\n\n"
      "Examples:\n  hoist top\n  hoist top --once --json");
  command->callback([&status, options] { status = top_command(*options); });
}

void add_learn(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "learn-program", "Check the engine against a program's build, and make that build known");
  auto options = std::make_shared<LearnOptions>();
  command->add_option("PATH", options->path, "The program")->required();
  command->add_flag("--check", options->check, "Only check");
  command->add_flag("--json", options->json, "Print as JSON");
  command->footer("Example:\n  hoist learn-program /usr/bin/sort");
  command->callback([&status, options] { status = learn_command(*options); });
}

void add_version(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->footer("Example:\n  hoist version");
  command->callback([&status] {
    fmt::print("{}\n", kVersion);
    status = kDone;
  });
}

// A command whose only option is --json.
void add_listing(CLI::App& app, const char* name, const char* description, const char* example,
                 int (*list)(bool json), int& status) {
  CLI::App* command = app.add_subcommand(name, description);
  CLI::Option* json = command->add_flag("--json")->description("Print as JSON");
  command->footer(fmt::format("Example:\n  {}", example));
  command->callback([&status, json, list] { status = list(json->count() > 0); });
}

void add_help(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("help", "Show a guide, or the help of a command");
  auto options = std::make_shared<HelpOptions>();
  command->add_option("TOPIC", options->words, "A guide, or a command and its subcommand");
  command->add_flag("--no-pager", options->no_pager, "Print a guide without a pager");
  command->footer(
      "Without a topic it lists guides and commands. On a terminal a guide goes through $PAGER.\n\n"
      "Examples:\n"
      "  hoist help\n"
      "  hoist help first-steps\n"
      "  hoist help match query");
  command->callback([&app, &status, options] { status = help_command(app, *options); });
}

// Dispatched before the parser: here for --help, completion and the manual.
void add_others(CLI::App& app) {
  // Their own programs have --help.
  for (const auto& [name, description] : tool_commands()) {
    app.add_subcommand(name, description)->set_help_flag();
  }
  for (const auto& [name, description] : engine_commands()) {
    app.add_subcommand(name, description)->group("Programs")->set_help_flag();
  }
}

}  // namespace

int run_command_line(std::vector<std::string> arguments) {
  if (!arguments.empty() && is_engine_command(arguments[0])) {
    return engine_command(arguments[0], {arguments.begin() + 1, arguments.end()});
  }
  if (!arguments.empty() && is_tool_command(arguments[0])) {
    return tool_command(arguments[0], {arguments.begin() + 1, arguments.end()});
  }
  Result<std::vector<std::string>> program = split_program(arguments);
  if (!program) return report(program.error());
  const bool empty_name =
      std::find(arguments.begin(), arguments.end(), "--stats=") != arguments.end();

  CLI::App app(HOIST_TAGLINE, "hoist");
  app.set_version_flag("-V,--version", kVersion, "Print the version");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  hoist run -- sort huge.txt       any program, its heavy work faster\n"
      "  hoist sha256sum *.iso            one engine as a command\n"
      "  hoist doctor                     what is on, and why the rest is off\n"
      "  hoist help first-steps           a guide; `hoist help` lists them all");
  int status = kDone;
  add_run(app, std::move(*program), empty_name, status);
  add_top(app, status);
  add_listing(app, "options", "Print the options that the environment sets",
              "HOIST_THREADS=4 hoist options", options_command, status);
  add_listing(app, "doctor", "Say what is on, and why the rest is off", "hoist doctor --json",
              doctor_command, status);
  add_learn(app, status);
  add_version(app, status);
  add_help(app, status);
  add_others(app);
  if (arguments == std::vector<std::string>{kDescribe}) {
    fmt::print("{}\n", describe(app));
    return kDone;
  }
  const std::string word = arguments.empty() ? "" : arguments[0];
  if (Status known = check_command(app, word, "`hoist --help` lists them"); !known) {
    return report(known.error());
  }
  // `hoist run` has streams that are the program's, and sees to it itself.
  if (word != "run" && word != "help" && !word.starts_with('-')) warn_of_unusable_values();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return report(usage_error(app, error));
  }
  return status;
}

}  // namespace hoist::cli
