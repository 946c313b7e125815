// Products of matrices that a library multiplies.
#pragma once

#include "graph/kernels/emit.h"

namespace hoist::graph::kernels {

// Whether threads that each compute an element are as quick as a library, or alone can do it.
bool is_generated(const Graph& graph, Id product, const LowerOptions& options);

// The step, and before it copies of matrices that lie in no order that libraries take. `result`:
// the product, or the node that rounds it.
Status emit_product(const EmitContext& context, const Fused& fused, Id product, Id result);

}  // namespace hoist::graph::kernels
