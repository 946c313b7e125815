// Which nodes become one kernel.
//
// A kernel walks one domain: a list of axes, some of which may be reduced. Its nodes have a value
// for each place of the domain (full), or for each place of the axes that are not reduced (column).
// Element-wise nodes join the kernels of their inputs, and reductions those of theirs, as long as
// all of them meet at the same places and no other kernel stands between them. So softmax is one
// kernel, and so is a matrix product (at most one in a kernel) with the element-wise nodes, and
// reductions over its last axis, that follow it. Element-wise nodes that have a number for each row
// of one other kernel join it too, such as the roots of a batch norm's variances.
#pragma once

#include <optional>
#include <vector>

#include "graph/program/access.h"
#include "graph/program/graph.h"

namespace hoist::graph::program {

// A node's elements in the memory of the node, input or constant that they are computed by.
struct Origin {
  Id root = 0;
  Access access;  // over the node's shape
};
// By node.
std::vector<Origin> origins_of(const Graph& graph);

struct Group {
  std::vector<Id> members;    // in the graph's order
  Extents dims;               // of the domain, none of them 1 but for a product's last one
  std::vector<bool> reduced;  // of each of them; without reductions: those along rows
  std::optional<Id> product;  // the matmul among the members
  bool is_concatenation = false;

  bool reduces() const;
};
// A primitive node as a kernel of its own.
Group alone(const Graph& graph, Id id);

// The axes of an array that are not 1.
Extents squeezed(const Extents& shape);
// The lengths of the domain's axes that are neither reduced nor 1.
Extents kept_dims(const Group& group);

enum class Level : uint8_t { full, column };
// What values of that shape are in the domain; nothing: neither.
std::optional<Level> level_of(const Group& group, const Extents& shape);

// Strides over the domain's axes of an array of that shape and level.
Extents domain_strides(const Group& group, Level level, const Extents& shape, const Access& access);

// The domain of both as one kernel, without members; nothing: they have none in common.
std::optional<Group> common_domain(const Group& a, const Group& b);

struct Fused {
  std::vector<Origin> origins;   // of each node
  std::vector<Group> groups;     // in an order in which they can run
  std::vector<size_t> group_of;  // of each node; kNoGroup: not computed
};
inline constexpr size_t kNoGroup = SIZE_MAX;

// The graph is a prepared one. Without `fuses`, every node is a kernel of its own.
// `joins_rows`: numbers for each row join their reader, whose `reduced` axes need no reduction
// then.
Fused fuse(const Graph& graph, bool fuses, bool joins_rows);

}  // namespace hoist::graph::program
