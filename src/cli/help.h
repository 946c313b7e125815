// hoist help [TOPIC [SUBCOMMAND]]: a guide, a command's help, or the list of both. A guide goes
// before the command of its name.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace hoist::cli {

struct HelpOptions {
  std::vector<std::string> words;  // a topic, or a command and its subcommand; none: list them
  bool no_pager = false;
};

// `app` has the commands. Gives the exit status.
int help_command(const CLI::App& app, const HelpOptions& options);

}  // namespace hoist::cli
