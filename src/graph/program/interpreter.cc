#include "graph/program/interpreter.h"

#include <algorithm>
#include <optional>

#include "graph/ops/ops.h"
#include "graph/ops/product.h"
#include "graph/program/access.h"
#include "graph/program/interpreter_along.h"
#include "graph/program/typed_steps.h"

namespace hoist::graph::program {
namespace {

class Interpreter {
 public:
  explicit Interpreter(const Graph& graph) : graph_(graph), values_(graph.size()) {}

  void set(Id id, Values values) { values_[id] = std::move(values); }
  const Values& at(Id id) const { return values_[id]; }
  Status status() const { return fault_.status(); }

  void run(Id id) {
    const Node& node = graph_[id];
    switch (properties(node.op).kind) {
      case OpKind::leaf:
        if (node.op == Op::constant) values_[id] = *node.values;
        return;
      case OpKind::elementwise:
        return elementwise(id, node);
      case OpKind::reduction:
        if (!is_place(node.op)) return reduce(id, node);
        [[fallthrough]];
      case OpKind::scan:
      case OpKind::take:
        values_[id] = along(graph_, node, values_, fault_);
        return;
      case OpKind::view: {
        const Node& input = graph_[node.inputs[0]];
        const Access dense{0, dense_strides(input.shape)};
        values_[id] =
            gather(values_[node.inputs[0]], node.shape, *access_of_view(node, input.shape, dense));
        return;
      }
      case OpKind::matmul:
        return multiply_matrices(id, node);
      case OpKind::concatenate:
        return concatenate(id, node);
    }
  }

 private:
  Values broadcast(Id from, const Extents& shape) const {
    const Extents& own = graph_[from].shape;
    return gather(values_[from], shape, broadcast_access(shape, own, {0, dense_strides(own)}));
  }

  void elementwise(Id id, const Node& node) {
    Values inputs[3];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      inputs[i] = broadcast(node.inputs[i], node.shape);
    }
    Values result(lanes_of(node.dtype), static_cast<size_t>(node.elements()));
    const Step step = step_for(node.op, step_lanes(graph_, node), node.dtype, 0);
    step(inputs[0].bytes(), inputs[1].bytes(), inputs[2].bytes(), result.bytes(), result.size());
    values_[id] = std::move(result);
  }

  void reduce(Id id, const Node& node) {
    // The reduced axes last, in their order.
    const Extents& shape = graph_[node.inputs[0]].shape;
    const Extents strides = dense_strides(shape);
    Extents order;
    Access access;
    size_t count = 1;
    for (const bool reduced : {false, true}) {
      for (size_t i = 0; i < shape.size(); ++i) {
        const bool is_reduced = std::binary_search(node.numbers.begin(), node.numbers.end(), i);
        if (is_reduced != reduced) continue;
        order.push_back(shape[i]);
        access.strides.push_back(strides[i]);
        if (reduced) count *= static_cast<size_t>(shape[i]);
      }
    }
    const Values rows = gather(values_[node.inputs[0]], order, access);
    Values result(lanes_of(node.dtype), static_cast<size_t>(node.elements()));
    for (size_t i = 0; i < result.size(); ++i) {
      switch (lanes_of(node.dtype)) {
        case Lanes::f32:
          result.f32()[i] = reduced(node.op, rows.f32().data() + i * count, count);
          break;
        case Lanes::f64:
          result.f64()[i] = reduced(node.op, rows.f64().data() + i * count, count);
          break;
        default:
          result.i64()[i] = reduced(node.op, node.dtype, rows.i64().data() + i * count, count);
      }
    }
    values_[id] = std::move(result);
  }

  static float reduced(Op op, const float* row, size_t count) {
    switch (op) {
      case Op::sum:
        return sum(row, count);
      case Op::mean:
        return sum(row, count) / static_cast<float>(count);
      case Op::product:
        return typed_steps().multiplied_f32(row, count);
      case Op::reduce_minimum:
        return steps().minimum(row, count);
      default:
        return steps().maximum(row, count);
    }
  }

  static double reduced(Op op, const double* row, size_t count) {
    const TypedSteps& table = typed_steps();
    if (op == Op::sum) return table.sum_f64(row, count);
    if (op == Op::product) return table.multiplied_f64(row, count);
    if (op == Op::mean) return table.sum_f64(row, count) / static_cast<double>(count);
    return table.extreme_f64[op == Op::reduce_minimum ? 0 : 1](row, count);
  }

  static int64_t reduced(Op op, DType dtype, const int64_t* row, size_t count) {
    const TypedSteps& table = typed_steps();
    if (op == Op::sum) return table.sum_i64(row, count);
    if (op == Op::product) {
      return static_cast<int64_t>(
          table.multiplied_u64(reinterpret_cast<const uint64_t*>(row), count));
    }
    const auto& extremes = dtype == DType::u64 ? table.extreme_u64 : table.extreme_i64;
    return extremes[op == Op::reduce_minimum ? 0 : 1](row, count);
  }

  void multiply_matrices(Id id, const Node& node) {
    const size_t rank = node.shape.size();
    const int64_t rows = node.shape[rank - 2];
    const int64_t columns = node.shape[rank - 1];
    const int64_t depth = graph_[node.inputs[0]].shape.back();
    Extents a_shape(node.shape.begin(), node.shape.end() - 2);
    Extents b_shape = a_shape;
    a_shape.insert(a_shape.end(), {rows, depth});
    b_shape.insert(b_shape.end(), {depth, columns});
    const Values a = broadcast(node.inputs[0], a_shape);
    const Values b = broadcast(node.inputs[1], b_shape);
    Values result(lanes_of(node.dtype), static_cast<size_t>(node.elements()));
    const auto shape = ProductShape::dense(static_cast<size_t>(rows), static_cast<size_t>(columns),
                                           static_cast<size_t>(depth));
    const size_t c_size = shape.rows * shape.columns;
    for (size_t i = 0; c_size != 0 && i < result.size() / c_size; ++i) {
      const size_t a_at = i * shape.rows * shape.depth;
      const size_t b_at = i * shape.depth * shape.columns;
      switch (lanes_of(node.dtype)) {
        case Lanes::f32:
          multiply(shape, a.f32().data() + a_at, b.f32().data() + b_at,
                   result.f32().data() + i * c_size);
          break;
        case Lanes::f64:
          typed_steps().product_f64(shape, a.f64().data() + a_at, b.f64().data() + b_at,
                                    result.f64().data() + i * c_size);
          break;
        default:
          typed_steps().product_i64(shape, a.i64().data() + a_at, b.i64().data() + b_at,
                                    result.i64().data() + i * c_size);
      }
    }
    values_[id] = std::move(result);
  }

  // As a part of the result, read at one place after the other.
  void concatenate(Id id, const Node& node) {
    const Extents strides = dense_strides(node.shape);
    const auto axis = static_cast<size_t>(node.numbers[0]);
    Values result(lanes_of(node.dtype), static_cast<size_t>(node.elements()));
    int64_t begin = 0;
    for (const Id input : node.inputs) {
      const Extents& shape = graph_[input].shape;
      scatter(values_[input], shape, {begin * strides[axis], strides}, result);
      begin += shape[axis];
    }
    values_[id] = std::move(result);
  }

  const Graph& graph_;
  std::vector<Values> values_;
  Fault fault_;
};

}  // namespace

Result<std::vector<Values>> interpret(const Graph& graph, std::span<const Values> inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return fail(ErrorCode::invalid_argument,
                "a graph with " + std::to_string(graph.inputs().size()) + " inputs is given " +
                    std::to_string(inputs.size()));
  }
  Interpreter interpreter(graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& node = graph[graph.inputs()[i]];
    if (inputs[i].size() != static_cast<size_t>(node.elements()) ||
        !inputs[i].has(lanes_of(node.dtype))) {
      return fail(ErrorCode::invalid_argument,
                  "input " + std::to_string(i) + " has " + std::to_string(inputs[i].size()) +
                      " elements, not those of " + text_of(node.shape) + ", or of another type");
    }
    interpreter.set(graph.inputs()[i], inputs[i]);
  }
  const std::vector<bool> live = graph.live();
  for (Id id = 0; id < graph.size(); ++id) {
    if (live[id]) interpreter.run(id);
  }
  if (Status ok = interpreter.status(); !ok) return ok.error();
  std::vector<Values> outputs;
  for (const Id output : graph.outputs()) outputs.push_back(interpreter.at(output));
  return outputs;
}

}  // namespace hoist::graph::program
