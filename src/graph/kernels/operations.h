// The operations of programs (program/op.h) as expressions of the kernel IR, with their meaning for
// NaN, infinities and -0.
#pragma once

#include <optional>
#include <span>

#include "graph/kernels/writer.h"

namespace hoist::graph::kernels {

// Nothing for element types that kernels do not compute with.
std::optional<ir::Scalar> scalar_of(DType dtype);

// Whether kernels can compute an element-wise node.
bool can_compute(const Graph& graph, const Node& node);
// Its value. `inputs` may have a narrower type than the node computes in: casts that change nothing
// are left out (program/prepare.h).
Value apply(KernelWriter& writer, const Graph& graph, const Node& node, std::vector<Value> inputs);

// A constant's value.
Value number(KernelWriter& writer, const Node& node);

// What running sums begin with: -0, which changes no first number.
Value sum_start(KernelWriter& writer, ir::Scalar type);

// How a reduction adds up: values of its own type, which one operator of the IR combines.
class Accumulation {
 public:
  // For a node of that type; cumulative_sum: for part of a row. Nothing where kernels have no such
  // reduction.
  static std::optional<Accumulation> of(program::Op op, DType dtype);

  ir::Scalar type() const { return type_; }
  ir::ReduceOperator op() const { return op_; }
  // The IR cannot reduce products by itself.
  bool is_product() const { return is_product_; }
  // Adds up a part of a running sum.
  bool is_running() const { return is_running_; }
  Value start(KernelWriter& writer) const;
  Value encoded(KernelWriter& writer, Value value) const;
  Value combined(KernelWriter& writer, Value a, Value b) const {
    return writer.binary(is_product_ ? ir::BinaryOperator::multiply : ir::binary_operator(op_), a,
                         b);
  }
  // As the node has it.
  Value decoded(KernelWriter& writer, Value total, ir::Scalar type) const;

 private:
  ir::Scalar type_ = ir::Scalar::f32;
  ir::ReduceOperator op_ = ir::ReduceOperator::add;
  // Floats that are ordered as integers: of IEEE 754-2019's minimum and maximum, in which NaN wins
  // and -0 is less than +0.
  bool is_ordered_float_ = false;
  bool is_product_ = false;
  bool is_running_ = false;
};

}  // namespace hoist::graph::kernels
