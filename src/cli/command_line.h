// Reading the command line of `hoist`. The only file that knows the parser is command_line.cc.
#pragma once

#include <string>
#include <vector>

namespace hoist::cli {

// Runs the command that the arguments (without argv[0]) name; gives the exit status.
int run_command_line(std::vector<std::string> arguments);

}  // namespace hoist::cli
