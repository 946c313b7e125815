// The declaration of a command as JSON, for scripts/command-table. Every program of ours that has
// commands prints its own where --describe is its only argument. Users need not see that option, so
// no help names it.
#pragma once

#include <string>

#include "cli/command.h"

namespace hoist::cli {

inline constexpr char kDescribe[] = "--describe";

// An object: "name", "group", "description", "footer", "options", "arguments" and "commands", which
// are such objects again. Options and arguments have "names", "value" (its name, empty for a flag),
// "kind", "choices" (all that there are), "suggestions", "default", "required", "many", "optional"
// (the value may be left out) and "description". The kind is what completion looks for: "file",
// "folder", "program" (a command line of its own), "topic" (a guide, or a
// command of ours) or "text".
std::string describe(CLI::App& app);

}  // namespace hoist::cli
