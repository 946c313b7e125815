#include "graph/program/shapes.h"

#include <algorithm>

#include "array/view.h"

namespace hoist::graph::program {
namespace {

std::string name_of(DType dtype) { return std::string(array::properties(dtype).framework); }

Error wrong(std::string message) { return fail(ErrorCode::invalid_argument, std::move(message)); }

Status infer_dtype(const Graph& graph, Node& node) {
  const std::string who(properties(node.op).name);
  const auto type = [&](size_t i) { return graph[node.inputs[i]].dtype; };
  const size_t first = node.op == Op::where ? 1 : 0;
  if (node.op == Op::where && type(0) != DType::boolean) {
    return wrong("where takes bool, not " + name_of(type(0)) + ": give a comparison as condition");
  }
  node.dtype = type(first);
  for (size_t i = first; i < node.inputs.size(); ++i) {
    if (!takes(node.op, type(i))) {
      return wrong(who + " takes " + taken_by(node.op) + ", not " + name_of(type(i)) +
                   ": cast it with astype()");
    }
    if (type(i) != node.dtype) {
      return wrong(who + " of " + name_of(node.dtype) + " and " + name_of(type(i)) +
                   ": give both one type");
    }
  }
  if (is_comparison(node.op) || node.op == Op::to_bool) node.dtype = DType::boolean;
  return {};
}

Status infer_product(const Graph& graph, Node& node) {
  const Extents& a = graph[node.inputs[0]].shape;
  const Extents& b = graph[node.inputs[1]].shape;
  const std::string shapes = text_of(a) + " and " + text_of(b);
  if (a.size() < 2 || b.size() < 2) {
    return wrong("matmul of " + shapes + ": both need two axes or more");
  }
  if (a.back() != b[b.size() - 2]) {
    return wrong("matmul of " + shapes + ": the first has " + std::to_string(a.back()) +
                 " columns, the second " + std::to_string(b[b.size() - 2]) +
                 " rows: they must be equal");
  }
  Result<Extents> shape =
      broadcast_shape("matmul", {a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!shape) return shape.error();
  shape->push_back(a[a.size() - 2]);
  shape->push_back(b.back());
  node.shape = *std::move(shape);
  return {};
}

}  // namespace

Result<Extents> broadcast_shape(const std::string& who, const Extents& a, const Extents& b) {
  const size_t rank = std::max(a.size(), b.size());
  Extents shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return wrong(who + " of shapes " + text_of(a) + " and " + text_of(b) + ": axis " +
                   std::to_string(rank - 1 - i) + " is " + std::to_string(x) + " and " +
                   std::to_string(y) + ": they must be equal, or one of them 1");
    }
    shape[rank - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

Result<int64_t> axis_of(const std::string& who, int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) {
    return wrong(who + " over axis " + std::to_string(axis) + " of an array with " +
                 std::to_string(rank) + ": give one from " + std::to_string(-count) + " to " +
                 std::to_string(count - 1));
  }
  return axis < 0 ? axis + count : axis;
}

Status infer(const Graph& graph, Node& node) {
  const OpProperties& op = properties(node.op);
  const std::string who(op.name);
  if (node.inputs.size() != static_cast<size_t>(op.inputs)) {
    return wrong(who + " takes " + std::to_string(op.inputs) + " arrays, not " +
                 std::to_string(node.inputs.size()));
  }
  if (Status ok = infer_dtype(graph, node); !ok) return ok;
  if (node.op == Op::matmul) return infer_product(graph, node);
  node.shape = graph[node.inputs[0]].shape;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    Result<Extents> shape = broadcast_shape(who, node.shape, graph[node.inputs[i]].shape);
    if (!shape) return shape.error();
    node.shape = *std::move(shape);
  }
  return {};
}

}  // namespace hoist::graph::program
