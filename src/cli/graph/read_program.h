// Programs of files for the commands, and their names.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "graph/program/program.h"
#include "graph/text/program_text.h"

namespace hoist::cli {

struct ReadProgram {
  graph::text::NamedGraph graph;
  std::shared_ptr<const graph::program::Program> program;
};
// Nothing where what is wrong has been printed; then `status` is the exit status.
std::optional<ReadProgram> read_program(const std::string& file, bool fast_math, int& status);

// "x", or the number of one without a name.
std::string array_name(const std::vector<std::string>& names, size_t i);

}  // namespace hoist::cli
