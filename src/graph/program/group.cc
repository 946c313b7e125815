#include <algorithm>
#include <iterator>

#include "graph/program/fuse.h"

namespace hoist::graph::program {
namespace {

// Only the last of a product's axes can be reduced.
bool is_reducible(const Group& group) {
  return std::find(group.reduced.begin(), group.reduced.end() - 1, true) == group.reduced.end() - 1;
}

Group domain_of(const Group& from, const Group& a, const Group& b) {
  return {{}, from.dims, from.reduced, a.product ? a.product : b.product, from.is_concatenation};
}

}  // namespace

bool Group::reduces() const {
  return std::find(reduced.begin(), reduced.end(), true) != reduced.end();
}

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

std::optional<Group> common_domain(const Group& a, const Group& b) {
  if (a.is_concatenation || b.is_concatenation || (a.product && b.product)) return {};
  const bool has_a = a.reduces();
  const bool has_b = b.reduces();
  if (squeezed(a.dims) != squeezed(b.dims)) {
    // A column node alone joins the domain that it is a column of.
    const bool fits = !a.product && !has_a && squeezed(a.dims) == kept_dims(b);
    const bool fits_too = !b.product && !has_b && squeezed(b.dims) == kept_dims(a);
    if (!fits && !fits_too) return {};
    return domain_of(fits ? b : a, a, b);
  }
  Group both = domain_of(b.product ? b : a, a, b);
  if (both.dims.size() == a.dims.size() && has_a) both.reduced = a.reduced;
  if (both.dims.size() == b.dims.size() && has_b) both.reduced = b.reduced;
  if (has_a && has_b && a.reduced != b.reduced) return {};
  if (both.product && !is_reducible(both)) return {};
  if (both.dims.size() != a.dims.size() && has_a) return {};
  if (both.dims.size() != b.dims.size() && has_b) return {};
  return both;
}

}  // namespace hoist::graph::program
