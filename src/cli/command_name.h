// Command lines that are wrong, and names of commands that there are not.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"

namespace hoist::cli {

// `invalid_argument` where `word`, the first on the command line, is none of the app's commands or
// is empty. The message says which one may be meant, and then `known`. Options, and apps without
// commands, pass.
Status check_command(const CLI::App& app, const std::string& word, const std::string& known);

// What a command line that does not parse is reported as: what is wrong, the command and its help.
Error usage_error(const CLI::App& app, const CLI::ParseError& error);

// "build, query, …"
std::string command_names(const CLI::App& app);

}  // namespace hoist::cli
