// Options that several commands of `hoist records` have: how rows are read, and what they become.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/records/commands.h"

namespace hoist::cli {

// The formats that are written, for `--to`.
std::vector<std::string> record_forms();

void add_floats(CLI::App* command, bool& floats);
// --from, --delimiter, --no-header. `in`: what is read, as the help calls it.
void add_source(CLI::App* command, RecordForm& form, const std::string& in);
// --skip-unparsed, --keep-text.
void add_unparsed(CLI::App* command, RecordForm& form);

}  // namespace hoist::cli
