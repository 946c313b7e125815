#include <algorithm>
#include <iterator>

#include "graph/program/fuse.h"

namespace hoist::graph::program {
std::vector<Origin> origins_of(const Graph& graph) {
  std::vector<Origin> origins(graph.size());
  for (Id id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (!is_view(node.op)) {
      origins[id] = {id, {0, dense_strides(node.shape)}};
      continue;
    }
    const Origin& from = origins[node.inputs[0]];
    origins[id].root = from.root;
    const auto access = access_of_view(node, graph[node.inputs[0]].shape, from.access);
    if (access) origins[id].access = *access;  // prepare() sees to it where it is live
  }
  return origins;
}

Group alone(const Graph& graph, Id id) {
  const Node& node = graph[id];
  Group group;
  group.members = {id};
  group.is_concatenation = node.op == Op::concatenate;
  const Extents& shape = is_reduction(node.op) ? graph[node.inputs[0]].shape : node.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_products_last = node.op == Op::matmul && i + 1 == shape.size();
    if (shape[i] == 1 && !is_products_last) continue;
    group.dims.push_back(shape[i]);
    group.reduced.push_back(
        (is_reduction(node.op) || node.op == Op::cumulative_sum) &&
        std::binary_search(node.numbers.begin(), node.numbers.end(), static_cast<int64_t>(i)));
  }
  if (node.op == Op::matmul) group.product = id;
  return group;
}

Extents squeezed(const Extents& shape) {
  Extents result;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(result),
               [](int64_t extent) { return extent != 1; });
  return result;
}

Extents kept_dims(const Group& group) {
  Extents kept;
  for (size_t i = 0; i < group.dims.size(); ++i) {
    if (!group.reduced[i] && group.dims[i] != 1) kept.push_back(group.dims[i]);
  }
  return kept;
}

std::optional<Level> level_of(const Group& group, const Extents& shape) {
  const Extents own = squeezed(shape);
  if (own == squeezed(group.dims)) return Level::full;
  if (own == kept_dims(group)) return Level::column;
  return {};
}

Extents domain_strides(const Group& group, Level level, const Extents& shape,
                       const Access& access) {
  Extents own;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) own.push_back(access.strides[i]);
  }
  Extents strides(group.dims.size(), 0);
  size_t next = 0;
  for (size_t i = 0; i < group.dims.size(); ++i) {
    if (group.dims[i] == 1 || (level == Level::column && group.reduced[i])) continue;
    strides[i] = own[next++];
  }
  return strides;
}

}  // namespace hoist::graph::program
