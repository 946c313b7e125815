// What a program is, in words.
#pragma once

#include <string>
#include <vector>

#include "graph/program/program.h"

namespace hoist::graph::text {

// The names of a kernel's operations.
std::vector<std::string> operations_of(const program::Program& program,
                                       const program::KernelReport& kernel);

// Nodes, kernels and bytes; a line for each kernel, each with its end.
std::string report_text(const program::Program& program);

}  // namespace hoist::graph::text
