// Runs a graph as it stands, node by node, each result in memory of its own. Slow and obvious: the
// oracle of compiled programs, and what folds constants.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "graph/program/graph.h"

namespace hoist::graph::program {

// A value for each input, row-major, in its type's lanes; gives one for each output.
Result<std::vector<Values>> interpret(const Graph& graph, std::span<const Values> inputs);

}  // namespace hoist::graph::program
