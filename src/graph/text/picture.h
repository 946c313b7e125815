// A picture of a compiled program: a box for each kernel with its nodes, from top to bottom in the
// order in which they can run, and an arrow for what one kernel reads of another.
#pragma once

#include <string>
#include <string_view>

#include "graph/program/program.h"

namespace hoist::graph::text {

// SVG, for light and for dark ground. `title`: any text.
std::string picture(const program::Program& program, std::string_view title);

}  // namespace hoist::graph::text
