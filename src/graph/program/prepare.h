// The graph as kernels can run it: every view has strides, a mean is a sum and a division, nothing
// is reduced over no elements or over one, casts that change no lane are left out (inputs of nodes
// are then of narrower types), and each output is a node that is computed.
#pragma once

#include "graph/program/graph.h"

namespace hoist::graph::program {

Graph prepare(const Graph& graph);

}  // namespace hoist::graph::program
