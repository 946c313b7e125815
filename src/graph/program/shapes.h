// The shapes and element types of results.
#pragma once

#include <span>

#include "base/result.h"
#include "graph/program/graph.h"

namespace hoist::graph::program {

// By NumPy's rules. `who` begins the message.
Result<Extents> broadcast_shape(const std::string& who, const Extents& a, const Extents& b);

// `axis` from the front; `invalid_argument` where there is no such axis.
Result<int64_t> axis_of(const std::string& who, int64_t axis, size_t rank);

// Sets node.dtype and node.shape of an element-wise operation or matmul from its inputs.
Status infer(const Graph& graph, Node& node);

}  // namespace hoist::graph::program
