// Nodes along one axis, as the interpreter runs them: one element after the other.
#pragma once

#include <vector>

#include "graph/program/fault.h"
#include "graph/program/graph.h"

namespace hoist::graph::program {

// argmin, argmax, cumulative_sum and take_along; `values` has those of the inputs.
Values along(const Graph& graph, const Node& node, const std::vector<Values>& values, Fault& fault);

}  // namespace hoist::graph::program
