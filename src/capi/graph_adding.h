// What the functions that add nodes to a graph share.
#pragma once

#include <utility>
#include <vector>

#include "capi/graph_handles.h"
#include "capi/status.h"

namespace hoist::capi {

// `unsupported` for more than HOIST_GRAPH_AXES of them.
Result<graph::program::Extents> extents_of(const int64_t* numbers, size_t count, const char* what);

Status check_node(const graph::program::Graph& graph, hoist_graph_node node);
Result<std::vector<graph::program::Id>> nodes_of(const graph::program::Graph& graph,
                                                 const hoist_graph_node* inputs, size_t count);

// `add` gives the new node of a graph that is there. `node`, which may lie among what `add` reads,
// is written last.
template <typename Add>
hoist_status adding(hoist_graph* graph, hoist_graph_node* node, const Add& add) {
  graph::program::Id made = 0;
  const hoist_status status = guarded([&]() -> Status {
    if (Status there = needed(node, "node"); !there) return there;
    if (Status there = needed(graph, "graph"); !there) return there;
    const Result<graph::program::Id> added = add(graph->named.graph);
    if (!added) return added.error();
    made = *added;
    return {};
  });
  if (node != nullptr) *node = made;
  return status;
}

// As above, from one node.
template <typename Add>
hoist_status adding_to(hoist_graph* graph, hoist_graph_node input, hoist_graph_node* node,
                       const Add& add) {
  return adding(graph, node, [&](graph::program::Graph& own) -> Result<graph::program::Id> {
    if (Status there = check_node(own, input); !there) return there.error();
    return add(own);
  });
}

// As above, with a list of numbers.
template <typename Add>
hoist_status adding_shaped(hoist_graph* graph, hoist_graph_node input, const int64_t* numbers,
                           size_t count, hoist_graph_node* node, const Add& add) {
  return adding_to(graph, input, node,
                   [&](graph::program::Graph& own) -> Result<graph::program::Id> {
                     Result<graph::program::Extents> extents = extents_of(numbers, count, "shape");
                     if (!extents) return extents.error();
                     return add(own, *std::move(extents));
                   });
}

}  // namespace hoist::capi
