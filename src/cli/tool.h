// What the mains of the commands with programs of their own share.
#pragma once

#include <functional>

#include "cli/command.h"

namespace hoist::cli {

// Parses the command line and runs `command`; its exit status, or that of a help text, a wrong
// command line, or output that could not be written.
int run_tool(CLI::App& app, int argc, char** argv, const std::function<int()>& command);

}  // namespace hoist::cli
