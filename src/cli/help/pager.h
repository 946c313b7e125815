// Long output for a reader at a terminal.
#pragma once

#include <string>

#include "base/result.h"

namespace hoist::cli {

// The program that $PAGER names, else less or more; empty where there is none or $PAGER is empty.
std::string pager_command();

// Shows the text through `command`, a shell's command line, until the reader leaves it. A command
// that cannot be started, or an empty one, leaves the text on standard output.
Status page_through(const std::string& command, const std::string& text);

}  // namespace hoist::cli
