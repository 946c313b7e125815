// Checks of a lowered program, node by node: each against the interpreter's result for the inputs
// that the program itself has computed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "graph/kernels/lowered.h"
#include "graph/program/prepare.h"
#include "graph/program/random_graph.h"

namespace hoist::graph::kernels {

using program::Op;
using program::Values;

// The prepared graph, with every node that is computed as an output.
inline Graph with_all_outputs(const Graph& graph) {
  Graph all = program::prepare(graph);
  const std::vector<bool> live = all.live();
  std::vector<Id> outputs;
  for (Id id = 0; id < all.size(); ++id) {
    if (live[id] && program::is_primitive(all[id].op)) outputs.push_back(id);
  }
  all.set_outputs(outputs);
  return all;
}

inline double real_at(const Values& values, size_t i) {
  if (values.has(program::Lanes::f32)) return double{values.f32()[i]};
  if (values.has(program::Lanes::f64)) return values.f64()[i];
  return static_cast<double>(values.i64()[i]);
}

inline bool same_at(const Values& a, const Values& b, size_t i) {
  if (a.has(program::Lanes::f32)) return program::same_number(a.f32()[i], b.f32()[i]);
  if (a.has(program::Lanes::f64)) return program::same_number(a.f64()[i], b.f64()[i]);
  return a.i64()[i] == b.i64()[i];
}

inline Values absolute(Values values) {
  if (values.has(program::Lanes::f32)) {
    for (float& value : values.f32()) value = std::abs(value);
  } else if (values.has(program::Lanes::f64)) {
    for (double& value : values.f64()) value = std::abs(value);
  }
  return values;
}

// What factors at most make of some of their product, in any order.
inline Values at_least_one(Values values) {
  if (values.has(program::Lanes::f32)) {
    for (float& value : values.f32()) value = std::max(1.0f, std::abs(value));
  } else if (values.has(program::Lanes::f64)) {
    for (double& value : values.f64()) value = std::max(1.0, std::abs(value));
  }
  return values;
}

// What an operation's result may be off, where it is not exact. `scale`: for sums the sum of
// absolute terms; for products the most that some of the factors make.
inline double error_bound(const Node& node, double expected, double scale, int64_t terms) {
  if (program::is_integer(node.dtype)) return 0;
  const bool is_wide = node.dtype == DType::f64;
  const double unit = is_wide ? 0x1p-53 : 0x1p-24;
  const double least = is_wide ? 0x1p-1072 : 0x1p-148;
  switch (node.op) {
    case Op::exp:
    case Op::log:
    case Op::tanh:
    case Op::erf:
    case Op::expm1:
    case Op::log1p:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::hypot:
    case Op::atan2:
      return 16 * unit * std::abs(expected) + least;
    case Op::sigmoid:
      return 24 * unit * std::abs(expected) + (is_wide ? least : 0x1p-125);
    case Op::product:
      // A product on its way may be too small for full precision: it is off by up to `least`, and
      // the factors that follow enlarge that.
      return 4 * unit * static_cast<double>(terms + 1) * std::abs(expected) +
             static_cast<double>(terms + 1) * least * std::max(scale, 1.0);
    case Op::power:
      return 64 * unit * std::abs(expected) + (is_wide ? 0x1p-1020 : 0x1p-125);
    case Op::sum:
    case Op::cumulative_sum:
    case Op::matmul:
      return 2 * unit * static_cast<double>(terms + 1) * scale + (is_wide ? least : 0x1p-140);
    default: {
      const auto builtin = ir::find_builtin(program::properties(node.op).name);
      const bool is_exact = !builtin || ir::is_exact(*builtin);
      return is_exact ? 0 : 16 * unit * std::abs(expected) + least;
    }
  }
}

class NodeCheck {
 public:
  using Run = std::function<std::vector<Values>(const std::vector<Values>& inputs)>;

  // `graph` as with_all_outputs() gives it.
  NodeCheck(const Graph& graph, const Fused& fused) : graph_(graph), fused_(fused) {}

  void check(const std::vector<Values>& inputs, const Run& run) {
    const std::vector<Values> found = run(inputs);
    ASSERT_EQ(found.size(), graph_.outputs().size());
    for (size_t i = 0; i < inputs.size(); ++i) known_[graph_.inputs()[i]] = inputs[i];
    for (size_t i = 0; i < found.size(); ++i) known_[graph_.outputs()[i]] = found[i];
    for (const Id id : graph_.outputs()) {
      ASSERT_NO_FATAL_FAILURE(check_node(id)) << "node " << id << "\n" << program::text_of(graph_);
    }
  }

 private:
  Values values_of(Id id) {
    const program::Origin& origin = fused_.origins[id];
    const Node& root = graph_[origin.root];
    const Values& from = root.op == Op::constant ? *root.values : known_.at(origin.root);
    return program::gather(from, graph_[id].shape, origin.access);
  }

  void check_node(Id id) {
    Node node = graph_[id];
    Graph alone;
    std::vector<Values> inputs;
    for (Id& input : node.inputs) {
      inputs.push_back(values_of(input));
      input = alone.input(graph_[input].dtype, graph_[input].shape).value();
    }
    const std::vector<Id> given = node.inputs;
    alone.set_outputs({alone.take(node)});
    const Values expected = interpret(alone, inputs).value()[0];
    const Values& found = known_.at(id);
    ASSERT_EQ(found.size(), expected.size());
    const Values scales = scales_of(node, inputs, given, alone);
    const int64_t terms = node.op == Op::matmul ? alone[given[0]].shape.back()
                          : (node.op == Op::sum || node.op == Op::product) && node.elements() != 0
                              ? alone[given[0]].elements() / node.elements()
                          : node.op == Op::cumulative_sum
                              ? node.shape[static_cast<size_t>(node.numbers[0])]
                              : 0;
    for (size_t i = 0; i < found.size(); ++i) {
      if (same_at(found, expected, i)) continue;
      const double scale = scales.empty() ? 0 : real_at(scales, i);
      const double most = node.dtype == DType::f64 ? 1e307 : 1e38;
      if (!scales.empty() && !(scale < most) && !std::isnan(scale)) continue;  // may overflow
      const double bound = error_bound(node, real_at(expected, i), scale, terms);
      const double error = std::abs(real_at(found, i) - real_at(expected, i));
      ASSERT_LE(error, bound) << program::properties(node.op).name << " at " << i << ": "
                              << real_at(found, i) << " instead of " << real_at(expected, i);
    }
  }

  // The sums of absolute terms, and the most that a product may come to on its way.
  static Values scales_of(const Node& node, std::vector<Values> inputs,
                          const std::vector<Id>& given, const Graph& of) {
    const bool multiplies = node.op == Op::product;
    const bool adds = node.op == Op::sum || node.op == Op::cumulative_sum || node.op == Op::matmul;
    if (!adds && !multiplies) return {};
    if (!program::is_float(node.dtype)) return {};
    Graph graph;
    std::vector<Id> ids;
    for (const Id id : given) ids.push_back(graph.input(of[id].dtype, of[id].shape).value());
    for (Values& values : inputs) {
      values = multiplies ? at_least_one(std::move(values)) : absolute(std::move(values));
    }
    Node same = node;
    same.inputs = ids;
    graph.set_outputs({graph.take(same)});
    return interpret(graph, inputs).value()[0];
  }

  const Graph& graph_;
  const Fused& fused_;
  std::map<Id, Values> known_;
};

}  // namespace hoist::graph::kernels
