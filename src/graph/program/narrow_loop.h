// Loops that work on elements as they lie in memory (narrow_steps.h), where all of a group allows
// it: arithmetic of small integers that is rounded to their type again, comparisons, logic,
// choices.
#pragma once

#include <optional>
#include <vector>

#include "graph/program/fuse.h"
#include "graph/program/loop.h"

namespace hoist::graph::program {

// Nothing where LoopBuilder has to make the loop. `is_written`: of each node.
std::optional<Loop> narrow_loop(const Graph& graph, const Fused& fused, const Group& group,
                                const std::vector<bool>& is_written);

}  // namespace hoist::graph::program
