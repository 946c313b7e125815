// How many bytes a kernel moves.
#pragma once

#include <cstdint>

#include "graph/program/graph.h"
#include "graph/program/loop.h"

namespace hoist::graph::program {

// What it reads and writes outside of the kernel, each element once.
uint64_t traffic(const Graph& graph, const Kernel& kernel);

}  // namespace hoist::graph::program
