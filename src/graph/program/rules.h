// The rewriting rules of canonicalise(), one row each.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/program/graph.h"

namespace hoist::graph::program {

// Adds nodes in canonical form: every node goes through the rules before it is added.
class Canonicaliser {
 public:
  explicit Canonicaliser(bool fast_math) : fast_math_(fast_math) {}

  // The node, whose inputs are of graph(), or what the first rule that fits makes of it.
  Id make(Node node);
  Id make(Op op, std::vector<Id> inputs);

  const Node& operator[](Id id) const { return graph_[id]; }
  Graph& graph() { return graph_; }
  // How often rules were used.
  size_t rewrites() const { return rewrites_; }
  // The number that a constant of one element is: of floats, and of integers (u64 by its bits).
  std::optional<double> number(Id id) const;
  std::optional<int64_t> integer(Id id) const;

 private:
  Graph graph_;
  bool fast_math_;
  size_t rewrites_ = 0;
};

struct Rule {
  std::string_view name;
  // Nothing where it does not fit. A result of another shape or type than the node's is not used.
  std::optional<Id> (*apply)(Canonicaliser& canonicaliser, const Node& node);
};

// Exact in IEEE 754 arithmetic, for NaN, infinities, -0 and subnormals too. Each looks at the
// types: those of floats are not all right for integers that wrap.
std::span<const Rule> exact_rules();
std::span<const Rule> integer_rules();
std::span<const Rule> cast_rules();
std::span<const Rule> view_rules();
// These round otherwise, or are wrong for infinities, NaN or -0.
std::span<const Rule> fast_math_rules();

}  // namespace hoist::graph::program
