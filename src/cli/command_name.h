// Names of commands that there are not.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace hoist::cli {

// `invalid_argument` where `word`, the first on the command line, is none of the app's commands or
// is empty. The message says which one may be meant, and then `known`. Options, and apps without
// commands, pass.
Status check_command(const CLI::App& app, const std::string& word, const std::string& known);

// "build, query, …"
std::string command_names(const CLI::App& app);

}  // namespace hoist::cli
