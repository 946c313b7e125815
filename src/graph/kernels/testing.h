// Checks of a lowered program, node by node: each against the interpreter's result for the inputs
// that the program itself has computed.
#pragma once

#include <gtest/gtest.h>

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

// What an operation's result may be off, where it is not exact. `scale`: for sums and products the
// sum of absolute terms.
inline double error_bound(const Node& node, double expected, double scale, int64_t terms) {
  constexpr double kUnit = 0x1p-24;
  switch (node.op) {
    case Op::exp:
    case Op::log:
    case Op::tanh:
    case Op::erf:
      return 16 * kUnit * std::abs(expected) + 0x1p-148;
    case Op::sigmoid:
      return 24 * kUnit * std::abs(expected) + 0x1p-125;
    case Op::power:
      return 64 * kUnit * std::abs(expected) + 0x1p-125;
    case Op::sum:
    case Op::matmul:
      return 2 * kUnit * static_cast<double>(terms + 1) * scale + 0x1p-140;
    default:
      return 0;
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
    Values values(static_cast<size_t>(graph_[id].elements()));
    program::gather(from.data(), graph_[id].shape, origin.access, values.data());
    return values;
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
                          : node.op == Op::sum && node.elements() != 0
                              ? alone[given[0]].elements() / node.elements()
                              : 0;
    for (size_t i = 0; i < found.size(); ++i) {
      if (program::same_float(found[i], expected[i])) continue;
      const double scale = scales.empty() ? 0 : scales[i];
      if (!scales.empty() && !(scale < 1e38) && !std::isnan(scale)) continue;  // may overflow
      const double bound = error_bound(node, expected[i], scale, terms);
      const double error = std::abs(double{found[i]} - double{expected[i]});
      ASSERT_LE(error, bound) << program::properties(node.op).name << " at " << i << ": "
                              << found[i] << " instead of " << expected[i];
    }
  }

  // The sums of absolute terms.
  static Values scales_of(const Node& node, std::vector<Values> inputs,
                          const std::vector<Id>& given, const Graph& of) {
    if (node.op != Op::sum && node.op != Op::matmul) return {};
    Graph graph;
    std::vector<Id> ids;
    for (const Id id : given) ids.push_back(graph.input(of[id].dtype, of[id].shape).value());
    for (Values& values : inputs) {
      for (float& value : values) value = std::abs(value);
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
