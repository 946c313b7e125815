// What the mains of the commands with programs of their own share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace hoist::cli {

// Parses the command line and runs `command`; its exit status, or that of a help text, a wrong
// command line, or output that could not be written.
int run_tool(CLI::App& app, int argc, char** argv, const std::function<int()>& command);

// Lets numbers from `low` to `high` pass. CLI::Range lets NaN pass as well.
CLI::Validator number_in(double low, double high);
// Lets whole numbers from 0 pass. Negative ones would become very large ones.
CLI::Validator count();

// --force: OUT is replaced where it exists (cli/output_rule.h).
void add_force(CLI::App* command, bool& force);

}  // namespace hoist::cli
