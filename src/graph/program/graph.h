// A graph of tensor operations, hash-consed: the same operation on the same inputs is one node, so
// common subexpressions vanish as the graph is built.
//
//   Graph graph;
//   const Id x = graph.input(DType::f32, {2, 3});
//   Result<Id> y = graph.add_node(Op::exp, {x});
//   graph.set_outputs({*y});
//
// Shapes are inferred and checked: a node that cannot be is an `invalid_argument` that names the
// operation and the shapes. Element types are those of types.h; others are `unsupported`.
// Arithmetic of types that are narrower than their lanes is arithmetic of these between casts:
// add(a, b) of f16 is cast(add(cast(a, f32), cast(b, f32)), f16). So are sums and products of them,
// which are rounded, or wrap, once. Nodes come after their inputs. Not for use by several threads
// at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/dtype.h"
#include "base/result.h"
#include "graph/program/op.h"
#include "graph/program/types.h"
#include "graph/program/values.h"

namespace hoist::graph::program {

using Id = uint32_t;
using Extents = std::vector<int64_t>;

struct Node {
  Op op = Op::input;
  DType dtype = DType::f32;
  Extents shape;
  std::vector<Id> inputs;
  // The sorted axes of a reduction; where each axis of a permutation comes from; the first index
  // and the step of each axis of a slice; the axis of a concatenation; the number of an input.
  Extents numbers;
  std::shared_ptr<const Values> values;  // of a constant

  int64_t elements() const;
  bool is_number() const { return op == Op::constant && values->size() == 1; }
  // The number that it is; an integer of 64 bits to nearest.
  double number() const;
};

uint64_t hash_of(const Node& node);
bool same(const Node& a, const Node& b);

int64_t element_count(const Extents& shape);
// "(2, 3)"
std::string text_of(const Extents& shape);

class Graph {
 public:
  // `unsupported` for other element types and more than 8 dimensions.
  Result<Id> input(DType dtype, Extents shape);
  Id number(float value);
  // Rounded, or wrapped, to the type.
  Id number(double value, DType dtype);
  Id integer(int64_t value, DType dtype);
  // As many values as the shape has elements, in the type's lanes.
  Result<Id> constant(DType dtype, Extents shape, std::shared_ptr<const Values> values);

  // Element-wise operations, and matmul. Inputs have one type, but for conditions of `where`.
  Result<Id> add_node(Op op, std::vector<Id> inputs);
  // The axes may be negative; none: all of them. Kept with length 1 or dropped. Sums of integers
  // are i64 or u64; means of them floats, by an exact sum where they have at most 32 bits.
  Result<Id> reduce(Op op, Id input, Extents axes, bool keeps_axes);
  // A sum of integers is i64 or u64.
  Result<Id> cumulative_sum(Id input, int64_t axis);
  // result[.., i, ..] = input[.., indices[.., i, ..], ..]; other axes broadcast. Indices are
  // integers, negative ones count from the end. One outside makes a program fail when it runs.
  Result<Id> take_along(Id input, Id indices, int64_t axis);
  // One extent may be -1.
  Result<Id> reshape(Id input, Extents shape);
  Result<Id> permute(Id input, Extents permutation);
  Result<Id> broadcast(Id input, Extents shape);
  // Takes `lengths` elements of each axis from `begins` on, `steps` apart (not 0). All inside.
  Result<Id> slice(Id input, const Extents& begins, const Extents& lengths, const Extents& steps);
  Result<Id> concatenate(std::vector<Id> inputs, int64_t axis);
  // element_casts.h says how.
  Result<Id> cast(Id input, DType dtype);
  // A node as another graph has it, with inputs of this one that have the same shapes and types.
  Id take(Node node);

  void set_outputs(std::vector<Id> outputs) {
    outputs_ = std::move(outputs);
    output_of_.clear();
    for (size_t i = 0; i < outputs_.size(); ++i) output_of_.emplace(outputs_[i], i);
  }

  const Node& operator[](Id id) const { return nodes_[id]; }
  size_t size() const { return nodes_.size(); }
  const std::vector<Id>& inputs() const { return inputs_; }
  const std::vector<Id>& outputs() const { return outputs_; }
  // The first output that the node is.
  std::optional<size_t> output_of(Id id) const {
    const auto found = output_of_.find(id);
    return found != output_of_.end() ? std::optional(found->second) : std::nullopt;
  }
  // Nodes that a report counts (is_primitive) and outputs depend on.
  size_t primitives() const;
  // Which nodes outputs depend on.
  std::vector<bool> live() const;

 private:
  Id intern(Node node);
  Result<Id> place_of_all(Op op, Id input, const Extents& axes, bool keeps_axes);

  std::vector<Node> nodes_;
  std::vector<Id> inputs_;
  std::vector<Id> outputs_;
  std::unordered_map<Id, size_t> output_of_;
  std::unordered_multimap<uint64_t, Id> known_;
};

// The lanes in which an element-wise node computes: those that step_for() takes.
Lanes step_lanes(const Graph& graph, const Node& node);

}  // namespace hoist::graph::program
