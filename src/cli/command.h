// How the commands declare their options: CLI11, and what the declarations share.
//
// A declaration is the one home of a command's words. Its help text, its completion in shells and
// its part of hoist(1) come from there (describe.h, scripts/command-table).
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hoist::cli {

// Lets numbers from `low` to `high` pass. CLI::Range lets NaN pass as well.
CLI::Validator number_in(double low, double high);
// Lets whole numbers from 0 pass. Negative ones would become very large ones.
CLI::Validator count();

// An option whose value may be empty. (Into a std::optional of its own accord CLI11 puts nothing
// then, as if the option were not there.)
CLI::Option* add_text(CLI::App* command, const std::string& name, std::optional<std::string>& value,
                      const std::string& description);

// --force: OUT is replaced where it exists (cli/output_rule.h).
void add_force(CLI::App* command, bool& force);

// Values, parted by spaces, that completion offers for an option that takes others too.
CLI::Option* suggest(CLI::Option* option, const std::string& values);
// What suggest() was given; none for other options.
std::vector<std::string> suggestions(CLI::Option& option);

}  // namespace hoist::cli
