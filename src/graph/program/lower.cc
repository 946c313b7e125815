#include "graph/program/lower.h"

#include <algorithm>

#include "graph/program/loop_builder.h"
#include "graph/program/narrow_loop.h"

namespace hoist::graph::program {
namespace {

// Nodes that are read by other groups, or are outputs of the graph.
std::vector<bool> written_nodes(const Graph& graph, const Fused& fused) {
  std::vector<bool> written(graph.size());
  for (const Id output : graph.outputs()) written[output] = true;
  for (Id id = 0; id < graph.size(); ++id) {
    if (fused.group_of[id] == kNoGroup) continue;
    for (const Id input : graph[id].inputs) {
      const Id root = fused.origins[input].root;
      if (fused.group_of[root] != fused.group_of[id]) written[root] = true;
    }
  }
  return written;
}

// A copy of each part into its place.
void concatenate(const Graph& graph, const Fused& fused, Id id, Kernel& kernel) {
  const Node& node = graph[id];
  const Extents strides = dense_strides(node.shape);
  const auto axis = static_cast<size_t>(node.numbers[0]);
  int64_t begin = 0;
  for (const Id input : node.inputs) {
    const Extents& shape = graph[input].shape;
    Group part;
    part.dims = squeezed(shape);
    part.reduced.assign(part.dims.size(), false);
    const Access to{begin * strides[axis], strides};
    LoopBuilder builder(graph, fused, part);
    builder.copy(input, id, shape, to);
    kernel.loops.push_back(builder.finish());
    begin += shape[axis];
  }
}

}  // namespace

std::vector<Kernel> lower(const Graph& graph, const Fused& fused) {
  const std::vector<bool> written = written_nodes(graph, fused);
  std::vector<Kernel> kernels;
  for (const Group& group : fused.groups) {
    Kernel kernel;
    kernel.members = group.members;
    for (const Id member : group.members) {
      if (written[member]) kernel.outputs.push_back(member);
    }
    if (group.is_concatenation) {
      concatenate(graph, fused, group.members[0], kernel);
    } else if (std::optional<Loop> narrow = narrow_loop(graph, fused, group, written)) {
      kernel.loops.push_back(*std::move(narrow));
    } else {
      LoopBuilder builder(graph, fused, group);
      for (const Id member : group.members) builder.add(member, written[member]);
      kernel.loops.push_back(builder.finish());
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace hoist::graph::program
