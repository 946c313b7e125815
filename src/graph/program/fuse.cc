#include "graph/program/fuse.h"

#include <algorithm>

namespace hoist::graph::program {
namespace {

bool is_among(const Group& group, Id id) {
  return std::binary_search(group.members.begin(), group.members.end(), id);
}

Extents kept_dims(const Group& group) {
  Extents kept;
  for (size_t i = 0; i < group.dims.size(); ++i) {
    if (!group.reduced[i] && group.dims[i] != 1) kept.push_back(group.dims[i]);
  }
  return kept;
}

class Fusion {
 public:
  Fusion(const Graph& graph, bool fuses, bool joins_rows)
      : graph_(graph), fuses_(fuses), joins_rows_(joins_rows) {}

  Fused run() {
    find_origins();
    const std::vector<bool> live = graph_.live();
    fused_.group_of.assign(graph_.size(), kNoGroup);
    for (Id id = 0; id < graph_.size(); ++id) {
      if (live[id] && is_primitive(graph_[id].op)) add(id);
    }
    for (size_t group = groups_.size(); joins_rows_ && group-- > 0;) join_as_rows(group);
    sort_groups();
    return std::move(fused_);
  }

 private:
  void find_origins() {
    fused_.origins.resize(graph_.size());
    for (Id id = 0; id < graph_.size(); ++id) {
      const Node& node = graph_[id];
      Origin& origin = fused_.origins[id];
      if (is_view(node.op)) {
        const Origin& from = fused_.origins[node.inputs[0]];
        origin.root = from.root;
        const auto access = access_of_view(node, graph_[node.inputs[0]].shape, from.access);
        if (access) origin.access = *access;  // prepare() sees to it where it is live
      } else {
        origin = {id, {0, dense_strides(node.shape)}};
      }
    }
  }

  Group alone(Id id) const {
    const Node& node = graph_[id];
    Group group;
    group.members = {id};
    group.is_concatenation = node.op == Op::concatenate;
    const Extents& shape = is_reduction(node.op) ? graph_[node.inputs[0]].shape : node.shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool is_products_last = node.op == Op::matmul && i + 1 == shape.size();
      if (shape[i] == 1 && !is_products_last) continue;
      group.dims.push_back(shape[i]);
      group.reduced.push_back(
          (is_reduction(node.op) || node.op == Op::cumulative_sum) &&
          std::binary_search(node.numbers.begin(), node.numbers.end(), static_cast<int64_t>(i)));
    }
    if (node.op == Op::matmul) group.product = id;
    return group;
  }

  void add(Id id) {
    groups_.push_back(alone(id));
    fused_.group_of[id] = groups_.size() - 1;
    const Op op = graph_[id].op;
    if (!fuses_ || op == Op::matmul || op == Op::concatenate) return;
    for (const Id input : graph_[id].inputs) {
      const size_t other = fused_.group_of[fused_.origins[input].root];
      const size_t own = fused_.group_of[id];
      if (other == kNoGroup || other == own) continue;
      std::optional<Group> both = merged(groups_[own], groups_[other]);
      if (!both || is_between(own, other)) continue;
      for (const Id member : both->members) fused_.group_of[member] = other;
      groups_[other] = *std::move(both);
      groups_[own] = {};
    }
  }

  // Both as one, if all members meet.
  std::optional<Group> merged(const Group& a, const Group& b) const {
    if (a.is_concatenation || b.is_concatenation || (a.product && b.product)) return {};
    const bool has_a = std::find(a.reduced.begin(), a.reduced.end(), true) != a.reduced.end();
    const bool has_b = std::find(b.reduced.begin(), b.reduced.end(), true) != b.reduced.end();
    if (squeezed(a.dims) != squeezed(b.dims)) {
      // A column node alone joins the domain that it is a column of.
      const bool fits = !a.product && !has_a && squeezed(a.dims) == kept_dims(b);
      const bool fits_too = !b.product && !has_b && squeezed(b.dims) == kept_dims(a);
      if (!fits && !fits_too) return {};
      return joined(fits ? b : a, a, b);
    }
    Group both = b.product ? b : a;
    if (both.dims.size() == a.dims.size() && has_a) both.reduced = a.reduced;
    if (both.dims.size() == b.dims.size() && has_b) both.reduced = b.reduced;
    if (has_a && has_b && a.reduced != b.reduced) return {};
    if (both.product && !is_reducible(both)) return {};
    if (both.dims.size() != a.dims.size() && has_a) return {};
    if (both.dims.size() != b.dims.size() && has_b) return {};
    return joined(both, a, b);
  }

  // What has a number for each of the first axes of its only reader's domain joins that: rows of
  // these axes, computed once for a row. After all others, because the reader's axes are then
  // fixed.
  void join_as_rows(size_t group) {
    const Group& rows = groups_[group];
    if (rows.members.empty() || rows.dims.empty() || !is_simple(rows)) return;
    const std::optional<size_t> other = only_reader(group);
    if (!other || !is_simple(groups_[*other])) return;
    Group domain = groups_[*other];
    const size_t count = rows.dims.size();
    // An empty domain has no rows to compute it for.
    if (domain.dims.size() <= count || element_count(domain.dims) == 0 ||
        !std::equal(rows.dims.begin(), rows.dims.end(), domain.dims.begin())) {
      return;
    }
    std::fill(domain.reduced.begin() + static_cast<ptrdiff_t>(count), domain.reduced.end(), true);
    std::optional<Group> both = joined(std::move(domain), groups_[*other], rows);
    if (!both || is_between(group, *other)) return;
    for (const Id member : both->members) fused_.group_of[member] = *other;
    groups_[*other] = *std::move(both);
    groups_[group] = {};
  }

  static bool is_simple(const Group& group) {
    return !group.product && !group.is_concatenation &&
           std::find(group.reduced.begin(), group.reduced.end(), true) == group.reduced.end();
  }

  std::optional<size_t> only_reader(size_t group) const {
    std::optional<size_t> reader;
    for (Id id = 0; id < graph_.size(); ++id) {
      const size_t own = fused_.group_of[id];
      if (own == kNoGroup || own == group || own == reader) continue;
      for (const Id input : graph_[id].inputs) {
        if (fused_.group_of[fused_.origins[input].root] != group) continue;
        if (reader && *reader != own) return {};
        reader = own;
      }
    }
    return reader;
  }

  // Only the last of a product's axes can be reduced.
  static bool is_reducible(const Group& group) {
    return std::find(group.reduced.begin(), group.reduced.end() - 1, true) ==
           group.reduced.end() - 1;
  }

  std::optional<Group> joined(Group domain, const Group& a, const Group& b) const {
    std::vector<Id> members;
    std::merge(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
               std::back_inserter(members));
    domain.members = std::move(members);
    domain.product = a.product ? a.product : b.product;
    for (const Id member : domain.members) {
      if (!meets(domain, member)) return {};
    }
    return domain;
  }

  // Whether a member finds its inputs of the same kernel at its own place.
  bool meets(const Group& group, Id member) const {
    const Node& node = graph_[member];
    const bool reduces = is_reduction(node.op);
    const Extents& shape = reduces ? graph_[node.inputs[0]].shape : node.shape;
    const auto level = level_of(group, shape);
    if (!level || (reduces && *level != Level::full)) return false;
    for (const Id input : node.inputs) {
      const Origin& origin = fused_.origins[input];
      if (!is_among(group, origin.root)) continue;
      if (node.op == Op::matmul) return false;
      if (node.op == Op::take_along && input == node.inputs[0]) return false;
      const Extents& own = graph_[origin.root].shape;
      const auto root_level = level_of(group, own);
      if (!root_level || (*level == Level::column && *root_level == Level::full)) return false;
      const Access at = broadcast_access(shape, graph_[input].shape, origin.access);
      const Access dense{0, dense_strides(own)};
      if (at.offset != 0 || domain_strides(group, *level, shape, at) !=
                                domain_strides(group, *root_level, own, dense)) {
        return false;
      }
    }
    return true;
  }

  std::vector<size_t> needed_by(size_t group) const {
    std::vector<size_t> needed;
    for (const Id member : groups_[group].members) {
      for (const Id input : graph_[member].inputs) {
        const size_t other = fused_.group_of[fused_.origins[input].root];
        if (other != kNoGroup && other != group) needed.push_back(other);
      }
    }
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    return needed;
  }

  // Whether `from` needs `wanted`, itself or by others.
  bool needs(size_t from, size_t wanted, std::vector<bool>& seen) const {
    if (from == wanted) return true;
    if (seen[from]) return false;
    seen[from] = true;
    for (const size_t next : needed_by(from)) {
      if (needs(next, wanted, seen)) return true;
    }
    return false;
  }

  // Whether a third kernel would have to run between these two.
  bool is_between(size_t a, size_t b) const {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      for (const size_t next : needed_by(from)) {
        std::vector<bool> seen(groups_.size());
        if (next != to && needs(next, to, seen)) return true;
      }
    }
    return false;
  }

  void sort_groups() {
    std::vector<size_t> place(groups_.size(), kNoGroup);
    for (size_t i = 0; i < groups_.size(); ++i) put(i, place);
    for (size_t& group : fused_.group_of) {
      if (group != kNoGroup) group = place[group];
    }
  }

  void put(size_t group, std::vector<size_t>& place) {
    if (groups_[group].members.empty() || place[group] != kNoGroup) return;
    for (const size_t needed : needed_by(group)) put(needed, place);
    place[group] = fused_.groups.size();
    fused_.groups.push_back(groups_[group]);
  }

  const Graph& graph_;
  const bool fuses_;
  const bool joins_rows_;
  Fused fused_;
  std::vector<Group> groups_;
};

}  // namespace

Extents squeezed(const Extents& shape) {
  Extents result;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(result),
               [](int64_t extent) { return extent != 1; });
  return result;
}

std::optional<Level> level_of(const Group& group, const Extents& shape) {
  const Extents own = squeezed(shape);
  if (own == squeezed(group.dims)) return Level::full;
  if (own == kept_dims(group)) return Level::column;
  return {};
}

Extents domain_strides(const Group& group, Level level, const Extents& shape,
                       const Access& access) {
  Extents own;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) own.push_back(access.strides[i]);
  }
  Extents strides(group.dims.size(), 0);
  size_t next = 0;
  for (size_t i = 0; i < group.dims.size(); ++i) {
    if (group.dims[i] == 1 || (level == Level::column && group.reduced[i])) continue;
    strides[i] = own[next++];
  }
  return strides;
}

Fused fuse(const Graph& graph, bool fuses, bool joins_rows) {
  return Fusion(graph, fuses, fuses && joins_rows).run();
}

}  // namespace hoist::graph::program
