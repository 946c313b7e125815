// Building graphs.
#include <fmt/format.h>

#include <utility>

#include "base/nearest_word.h"
#include "capi/graph_adding.h"
#include "graph/program/move.h"
#include "graph/text/names.h"

namespace hoist::capi {
namespace {

namespace gp = graph::program;
using gp::DType;
using gp::Extents;
using gp::Graph;
using gp::Id;
using gp::Op;

Result<Op> op_of(const char* name, bool is_reduction) {
  if (Status there = needed(name, "operation"); !there) return there.error();
  std::vector<std::string> known;
  for (size_t i = 0; i < gp::kOps; ++i) {
    const Op op = static_cast<Op>(i);
    const bool is_applied = (gp::is_elementwise(op) && op != Op::cast) || op == Op::matmul;
    if (is_reduction ? !gp::is_reduction(op) : !is_applied) continue;
    known.emplace_back(gp::properties(op).name);
    if (known.back() == name) return op;
  }
  const std::string nearest = nearest_word(name, known);
  return fail(ErrorCode::not_found,
              fmt::format("no {} {}{}", is_reduction ? "reduction" : "operation", name,
                          nearest.empty() ? "" : ": is it " + nearest + "?"));
}

Status check_name(const char* name) {
  if (name == nullptr || *name == '\0' || graph::text::is_name(name)) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("no name {}: letters, digits, _ and . behind a letter or _", name));
}

Result<Id> constant(Graph& graph, DType dtype, Extents shape, const void* data, size_t bytes) {
  // Checks the shape before its elements are counted.
  if (const Result<Id> checked = Graph().input(dtype, shape); !checked) return checked.error();
  const auto count = static_cast<size_t>(gp::element_count(shape));
  if (bytes != count * gp::bytes_of(dtype)) {
    return fail(ErrorCode::invalid_argument, fmt::format("a constant of {} has {} bytes, not {}",
                                                         graph::text::type_text(dtype, shape),
                                                         count * gp::bytes_of(dtype), bytes));
  }
  if (Status there = bytes == 0 ? Status() : needed(data, "data"); !there) return there.error();
  gp::Values values(gp::lanes_of(dtype), count);
  gp::widen(dtype, data, count, values.bytes());
  return graph.constant(dtype, std::move(shape),
                        std::make_shared<const gp::Values>(std::move(values)));
}

}  // namespace

Result<Extents> extents_of(const int64_t* numbers, size_t count, const char* what) {
  if (count > HOIST_GRAPH_AXES) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: {} axes: programs take {}", what, count, HOIST_GRAPH_AXES));
  }
  if (Status there = count == 0 ? Status() : needed(numbers, what); !there) return there.error();
  return Extents(numbers, numbers + count);
}

Status check_node(const Graph& graph, hoist_graph_node node) {
  if (node < graph.size()) return {};
  return fail(ErrorCode::invalid_argument, fmt::format("no node {} in this graph", node));
}

Result<std::vector<Id>> nodes_of(const Graph& graph, const hoist_graph_node* inputs, size_t count) {
  if (Status there = count == 0 ? Status() : needed(inputs, "inputs"); !there) {
    return there.error();
  }
  std::vector<Id> nodes(inputs, inputs + count);
  for (const Id id : nodes) {
    if (Status there = check_node(graph, id); !there) return there.error();
  }
  return nodes;
}

Result<DType> graph_type(const char* name) {
  if (Status there = needed(name, "type"); !there) return there.error();
  const std::optional<DType> dtype = graph::text::find_type(name);
  if (dtype && gp::is_program_type(*dtype)) return *dtype;
  return fail(
      ErrorCode::not_found,
      fmt::format("no type {} of programs: bool, i8 to i64, u8 to u64, f16, bf16, f32, f64", name));
}

}  // namespace hoist::capi

using namespace hoist::capi;
using hoist::Result;
using hoist::Status;
using hoist::graph::program::DType;
using hoist::graph::program::Extents;
using hoist::graph::program::Graph;
using hoist::graph::program::Id;

extern "C" {

hoist_status hoist_graph_create(hoist_graph** graph) {
  return guarded([&]() -> Status {
    if (Status there = needed(graph, "graph"); !there) return there;
    *graph = nullptr;
    *graph = new hoist_graph;
    return {};
  });
}

void hoist_graph_free(hoist_graph* graph) { delete graph; }

hoist_status hoist_graph_input(hoist_graph* graph, const char* name, const char* type,
                               const int64_t* shape, size_t axes, hoist_graph_node* node) {
  return adding(graph, node, [&](Graph& own) -> Result<Id> {
    if (Status may = check_name(name); !may) return may.error();
    const Result<DType> dtype = graph_type(type);
    if (!dtype) return dtype.error();
    Result<Extents> extents = extents_of(shape, axes, "shape");
    if (!extents) return extents.error();
    graph->named.inputs.reserve(graph->named.inputs.size() + 1);
    std::string own_name = name == nullptr ? "" : name;
    Result<Id> made = own.input(*dtype, *std::move(extents));
    if (made) graph->named.inputs.push_back(std::move(own_name));
    return made;
  });
}

hoist_status hoist_graph_constant(hoist_graph* graph, const char* type, const int64_t* shape,
                                  size_t axes, const void* data, size_t bytes,
                                  hoist_graph_node* node) {
  return adding(graph, node, [&](Graph& own) -> Result<Id> {
    const Result<DType> dtype = graph_type(type);
    if (!dtype) return dtype.error();
    Result<Extents> extents = extents_of(shape, axes, "shape");
    if (!extents) return extents.error();
    return constant(own, *dtype, *std::move(extents), data, bytes);
  });
}

hoist_status hoist_graph_number(hoist_graph* graph, const char* type, double value,
                                hoist_graph_node* node) {
  return adding(graph, node, [&](Graph& own) -> Result<Id> {
    const Result<DType> dtype = graph_type(type);
    if (!dtype) return dtype.error();
    return own.number(value, *dtype);
  });
}

hoist_status hoist_graph_apply(hoist_graph* graph, const char* operation,
                               const hoist_graph_node* inputs, size_t count,
                               hoist_graph_node* node) {
  return adding(graph, node, [&](Graph& own) -> Result<Id> {
    const auto op = op_of(operation, false);
    if (!op) return op.error();
    Result<std::vector<Id>> nodes = nodes_of(own, inputs, count);
    if (!nodes) return nodes.error();
    return own.add_node(*op, *std::move(nodes));
  });
}

hoist_status hoist_graph_reduce(hoist_graph* graph, const char* operation, hoist_graph_node input,
                                const int64_t* axes, size_t count, int keep,
                                hoist_graph_node* node) {
  return adding_shaped(graph, input, axes, count, node,
                       [&](Graph& own, Extents over) -> Result<Id> {
                         const auto op = op_of(operation, true);
                         if (!op) return op.error();
                         return own.reduce(*op, input, std::move(over), keep != 0);
                       });
}

hoist_status hoist_graph_cast(hoist_graph* graph, hoist_graph_node input, const char* type,
                              hoist_graph_node* node) {
  return adding_to(graph, input, node, [&](Graph& own) -> Result<Id> {
    const Result<DType> dtype = graph_type(type);
    if (!dtype) return dtype.error();
    return own.cast(input, *dtype);
  });
}

hoist_status hoist_graph_output(hoist_graph* graph, const char* name, hoist_graph_node node) {
  return guarded([&]() -> Status {
    if (Status there = needed(graph, "graph"); !there) return there;
    if (Status may = check_name(name); !may) return may;
    Graph& own = graph->named.graph;
    if (Status there = check_node(own, node); !there) return there;
    std::vector<Id> outputs = own.outputs();
    outputs.push_back(node);
    graph->named.outputs.emplace_back(name == nullptr ? "" : name);
    own.set_outputs(std::move(outputs));
    return {};
  });
}

hoist_status hoist_graph_describe(const hoist_graph* graph, hoist_graph_node node,
                                  hoist_graph_array* array) {
  return guarded([&]() -> Status {
    if (Status there = needed(array, "array"); !there) return there;
    *array = {};
    if (Status there = needed(graph, "graph"); !there) return there;
    if (Status there = check_node(graph->named.graph, node); !there) return there;
    *array = array_of(graph->named.graph[node], "");
    return {};
  });
}

}  // extern "C"
