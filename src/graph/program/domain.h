// The domain of a kernel as loops: its axes in the order of the loops, those merged that all
// operands allow to.
#pragma once

#include "graph/program/fuse.h"
#include "graph/program/loop.h"

namespace hoist::graph::program {

// An operand by its strides over the group's axes.
struct RawOperand {
  Operand operand;
  Extents strides;
};

// Where an input, a constant or a computed node lies.
Place place_of(const Graph& graph, Id node);

// Sets the loop's axes, and the strides of the operands.
void set_domain(const Group& group, std::vector<RawOperand> operands, Loop& loop);

}  // namespace hoist::graph::program
