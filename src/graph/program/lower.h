// Kernels of groups of nodes.
#pragma once

#include <vector>

#include "graph/program/fuse.h"
#include "graph/program/loop.h"

namespace hoist::graph::program {

// One for each group, in their order. Operands name nodes; plan() says where these lie.
std::vector<Kernel> lower(const Graph& graph, const Fused& fused);

}  // namespace hoist::graph::program
