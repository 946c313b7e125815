#include "graph/program/canonicalise.h"

#include "graph/program/interpreter.h"
#include "graph/program/rules.h"

namespace hoist::graph::program {
namespace {

// A constant that is larger than what it is made of is made again by each call instead.
constexpr int64_t kMostGrown = 4096;

// The value of a node all of whose inputs are constants.
std::optional<Id> folded(Graph& graph, const Node& node) {
  if (is_leaf(node.op)) return {};
  int64_t given = 0;
  for (const Id input : node.inputs) {
    if (graph[input].op != Op::constant) return {};
    given += graph[input].elements();
  }
  if (node.elements() > kMostGrown && node.elements() > given) return {};
  Graph alone;
  Node inside = node;
  for (Id& input : inside.inputs) input = alone.take(graph[input]);
  alone.set_outputs({alone.take(std::move(inside))});
  auto values = interpret(alone, {});
  if (!values) return {};
  const auto result = graph.constant(node.dtype, node.shape,
                                     std::make_shared<const Values>(std::move(values->front())));
  return result ? std::optional<Id>(*result) : std::nullopt;
}

}  // namespace

std::optional<double> Canonicaliser::number(Id id) const {
  const Node& node = graph_[id];
  return node.is_number() && is_float(node.dtype) ? std::optional(node.number()) : std::nullopt;
}

std::optional<int64_t> Canonicaliser::integer(Id id) const {
  const Node& node = graph_[id];
  if (!node.is_number() || !is_integer(node.dtype)) return {};
  return node.values->i64()[0];
}

Id Canonicaliser::make(Node node) {
  if (const std::optional<Id> constant = folded(graph_, node)) {
    ++rewrites_;
    return *constant;
  }
  const auto try_rules = [&](std::span<const Rule> rules) -> std::optional<Id> {
    for (const Rule& rule : rules) {
      const std::optional<Id> id = rule.apply(*this, node);
      // A number with axes can be what gives the node its shape: then it stays.
      if (id && graph_[*id].shape == node.shape && graph_[*id].dtype == node.dtype) return id;
    }
    return {};
  };
  std::optional<Id> made = try_rules(exact_rules());
  if (!made && is_integer(node.dtype)) made = try_rules(integer_rules());
  if (!made) made = try_rules(cast_rules());
  if (!made) made = try_rules(view_rules());
  if (!made && fast_math_) made = try_rules(fast_math_rules());
  if (!made) return graph_.take(std::move(node));
  ++rewrites_;
  return *made;
}

Id Canonicaliser::make(Op op, std::vector<Id> inputs) {
  // The graph infers the shape; the node that it adds is dead if a rule makes another one of it.
  const Id id = graph_.add_node(op, std::move(inputs)).value();
  return make(Node(graph_[id]));
}

Canonical canonicalise(const Graph& graph, CanonicalOptions options) {
  Canonicaliser canonicaliser(options.fast_math);
  const std::vector<bool> live = graph.live();
  std::vector<Id> made(graph.size());
  for (const Id input : graph.inputs()) made[input] = canonicaliser.graph().take(graph[input]);
  for (Id id = 0; id < graph.size(); ++id) {
    if (!live[id] || graph[id].op == Op::input) continue;
    Node node = graph[id];
    for (Id& input : node.inputs) input = made[input];
    made[id] = canonicaliser.make(std::move(node));
  }
  std::vector<Id> outputs;
  for (const Id output : graph.outputs()) outputs.push_back(made[output]);
  canonicaliser.graph().set_outputs(std::move(outputs));
  return {std::move(canonicaliser.graph()), canonicaliser.rewrites()};
}

}  // namespace hoist::graph::program
