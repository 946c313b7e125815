// Views, and nodes that are made of several.
#include "capi/graph_adding.h"
#include "graph/program/composites.h"

namespace gp = hoist::graph::program;
using namespace hoist::capi;
using gp::Extents;
using gp::Graph;
using gp::Id;
using hoist::Result;

extern "C" {

hoist_status hoist_graph_concatenate(hoist_graph* graph, const hoist_graph_node* inputs,
                                     size_t count, int64_t axis, hoist_graph_node* node) {
  return adding(graph, node, [&](Graph& own) -> Result<Id> {
    Result<std::vector<Id>> nodes = nodes_of(own, inputs, count);
    if (!nodes) return nodes.error();
    return own.concatenate(*std::move(nodes), axis);
  });
}

hoist_status hoist_graph_reshape(hoist_graph* graph, hoist_graph_node input, const int64_t* shape,
                                 size_t axes, hoist_graph_node* node) {
  return adding_shaped(graph, input, shape, axes, node, [&](Graph& own, Extents extents) {
    return own.reshape(input, std::move(extents));
  });
}

hoist_status hoist_graph_permute(hoist_graph* graph, hoist_graph_node input, const int64_t* from,
                                 size_t axes, hoist_graph_node* node) {
  return adding_shaped(graph, input, from, axes, node, [&](Graph& own, Extents extents) {
    return own.permute(input, std::move(extents));
  });
}

hoist_status hoist_graph_broadcast(hoist_graph* graph, hoist_graph_node input, const int64_t* shape,
                                   size_t axes, hoist_graph_node* node) {
  return adding_shaped(graph, input, shape, axes, node, [&](Graph& own, Extents extents) {
    return own.broadcast(input, std::move(extents));
  });
}

hoist_status hoist_graph_slice(hoist_graph* graph, hoist_graph_node input, const int64_t* begins,
                               const int64_t* lengths, const int64_t* steps, size_t axes,
                               hoist_graph_node* node) {
  return adding_to(graph, input, node, [&](Graph& own) -> Result<Id> {
    const Result<Extents> from = extents_of(begins, axes, "begins");
    if (!from) return from.error();
    const Result<Extents> many = extents_of(lengths, axes, "lengths");
    if (!many) return many.error();
    const Result<Extents> apart = extents_of(steps, axes, "steps");
    if (!apart) return apart.error();
    return own.slice(input, *from, *many, *apart);
  });
}

hoist_status hoist_graph_cumulative_sum(hoist_graph* graph, hoist_graph_node input, int64_t axis,
                                        hoist_graph_node* node) {
  return adding_to(graph, input, node, [&](Graph& own) { return own.cumulative_sum(input, axis); });
}

hoist_status hoist_graph_take_along(hoist_graph* graph, hoist_graph_node input,
                                    hoist_graph_node indices, int64_t axis,
                                    hoist_graph_node* node) {
  return adding_to(graph, input, node, [&](Graph& own) -> Result<Id> {
    if (hoist::Status there = check_node(own, indices); !there) return there.error();
    return own.take_along(input, indices, axis);
  });
}

hoist_status hoist_graph_gelu(hoist_graph* graph, hoist_graph_node input, int exact,
                              hoist_graph_node* node) {
  return adding_to(graph, input, node, [&](Graph& own) {
    return exact != 0 ? gp::gelu_erf(own, input) : gp::gelu_tanh(own, input);
  });
}

hoist_status hoist_graph_softmax(hoist_graph* graph, hoist_graph_node input, int64_t axis,
                                 hoist_graph_node* node) {
  return adding_to(graph, input, node, [&](Graph& own) { return gp::softmax(own, input, axis); });
}

hoist_status hoist_graph_log_softmax(hoist_graph* graph, hoist_graph_node input, int64_t axis,
                                     hoist_graph_node* node) {
  return adding_to(graph, input, node,
                   [&](Graph& own) { return gp::log_softmax(own, input, axis); });
}

hoist_status hoist_graph_layer_norm(hoist_graph* graph, hoist_graph_node input, double epsilon,
                                    hoist_graph_node* node) {
  return adding_to(graph, input, node,
                   [&](Graph& own) { return gp::normalise(own, input, epsilon); });
}

}  // extern "C"
