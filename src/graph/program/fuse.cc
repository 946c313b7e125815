#include "graph/program/fuse.h"

#include <algorithm>

namespace hoist::graph::program {
namespace {

constexpr size_t kMostReaders = 64;

// Groups have a slot each, which their members name. Of two that become one the larger keeps its
// slot, and only what the smaller one brings is looked at, so that a kernel of n nodes takes about
// n log n steps to find.
class Fusion {
 public:
  Fusion(const Graph& graph, bool fuses, bool joins_rows)
      : graph_(graph), fuses_(fuses), joins_rows_(joins_rows) {}

  Fused run() {
    fused_.origins = origins_of(graph_);
    const std::vector<bool> live = graph_.live();
    fused_.group_of.assign(graph_.size(), kNoGroup);
    readers_.resize(graph_.size());
    for (Id id = 0; id < graph_.size(); ++id) {
      if (!live[id] || !is_primitive(graph_[id].op)) continue;
      for (const Id input : graph_[id].inputs) readers_[root_of(input)].push_back(id);
      add(id);
    }
    for (size_t order = slot_at_.size(); joins_rows_ && order-- > 0;) {
      if (slot_at_[order] != kNoGroup) join_as_rows(slot_at_[order]);
    }
    sort_groups();
    return std::move(fused_);
  }

 private:
  Id root_of(Id id) const { return fused_.origins[id].root; }

  void add(Id id) {
    const size_t first = groups_.size();
    groups_.push_back(alone(graph_, id));
    fused_.group_of[id] = first;
    order_.push_back(first);
    slot_at_.push_back(first);
    needed_.emplace_back();
    for (const Id input : graph_[id].inputs) {
      if (fused_.group_of[root_of(input)] != kNoGroup) needed_[first].push_back(root_of(input));
    }
    const Op op = graph_[id].op;
    if (!fuses_ || op == Op::matmul || op == Op::concatenate) return;
    for (const Id input : graph_[id].inputs) {
      const size_t other = fused_.group_of[root_of(input)];
      const size_t own = fused_.group_of[id];
      if (other == kNoGroup || other == own) continue;
      std::optional<Group> domain = common_domain(groups_[own], groups_[other]);
      if (domain) join(own, other, *std::move(domain));
    }
  }

  // What has a number for each of the first axes of its only reader's domain joins that: rows of
  // these axes, computed once for a row. After all others, because the reader's axes are then
  // fixed.
  void join_as_rows(size_t group) {
    const Group& rows = groups_[group];
    if (rows.members.empty() || rows.dims.empty() || !is_simple(rows)) return;
    const std::optional<size_t> other = only_reader(group);
    if (!other || !is_simple(groups_[*other])) return;
    Group domain{{}, groups_[*other].dims, groups_[*other].reduced, {}};
    const size_t count = rows.dims.size();
    // An empty domain has no rows to compute it for.
    if (domain.dims.size() <= count || element_count(domain.dims) == 0 ||
        !std::equal(rows.dims.begin(), rows.dims.end(), domain.dims.begin())) {
      return;
    }
    std::fill(domain.reduced.begin() + static_cast<ptrdiff_t>(count), domain.reduced.end(), true);
    join(group, *other, std::move(domain));
  }

  static bool is_simple(const Group& group) {
    return !group.product && !group.is_concatenation && !group.reduces();
  }

  std::optional<size_t> only_reader(size_t group) const {
    std::optional<size_t> reader;
    for (const Id member : groups_[group].members) {
      for (const Id reading : readers_[member]) {
        const size_t own = fused_.group_of[reading];
        if (own == group || own == reader) continue;
        if (reader) return {};
        reader = own;
      }
    }
    return reader;
  }

  // Makes one of both, in the order of `other`, if all members meet and no third kernel would have
  // to run between them.
  void join(size_t own, size_t other, Group domain) {
    const auto [small, large] = std::minmax({own, other}, [&](size_t a, size_t b) {
      return groups_[a].members.size() < groups_[b].members.size();
    });
    if (!all_meet(domain, small, large) || is_between(own, other)) return;
    std::vector<Id>& members = groups_[large].members;
    for (const Id member : groups_[small].members) {
      fused_.group_of[member] = large;
      members.push_back(member);
    }
    for (const Id needed : needed_[small]) {
      if (fused_.group_of[needed] != large) needed_[large].push_back(needed);
    }
    domain.members = std::move(members);
    groups_[large] = std::move(domain);
    groups_[small] = {};
    needed_[small] = {};
    const size_t order = order_[other];
    slot_at_[order_[own]] = kNoGroup;
    slot_at_[order] = large;
    order_[large] = order;
  }

  bool all_meet(const Group& domain, size_t small, size_t large) const {
    const auto meet = [&](Id member) { return meets(domain, member, small, large); };
    const std::vector<Id>& few = groups_[small].members;
    const Group& many = groups_[large];
    if (!std::all_of(few.begin(), few.end(), meet)) return false;
    // Those that met each other in this domain have to meet the others alone.
    if (many.members.size() > 1 && many.dims == domain.dims && many.reduced == domain.reduced) {
      return std::all_of(few.begin(), few.end(), [&](Id member) {
        const std::vector<Id>& readers = readers_[member];
        return std::all_of(readers.begin(), readers.end(), [&](Id reader) {
          return fused_.group_of[reader] != large || meet(reader);
        });
      });
    }
    return std::all_of(many.members.begin(), many.members.end(), meet);
  }

  // Whether a member finds its inputs of the same kernel at its own place.
  bool meets(const Group& group, Id member, size_t own, size_t other) const {
    const Node& node = graph_[member];
    const bool reduces = is_reduction(node.op);
    const Extents& shape = reduces ? graph_[node.inputs[0]].shape : node.shape;
    const auto level = level_of(group, shape);
    if (!level || (reduces && *level != Level::full)) return false;
    for (const Id input : node.inputs) {
      const Origin& origin = fused_.origins[input];
      const size_t of_root = fused_.group_of[origin.root];
      if (of_root != own && of_root != other) continue;
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

  // Whether a third kernel would have to run between these two.
  bool is_between(size_t a, size_t b) { return leads_by_others(a, b) || leads_by_others(b, a); }

  // Whether `from` needs `to` by way of another one.
  bool leads_by_others(size_t from, size_t to) {
    seen_.resize(groups_.size());
    ++search_;
    std::vector<size_t> open;
    const auto look = [&](size_t group, size_t apart) {
      for (const Id needed : needed_[group]) {
        const size_t next = fused_.group_of[needed];
        if (next == group || next == apart || seen_[next] == search_) continue;
        seen_[next] = search_;
        open.push_back(next);
      }
    };
    look(from, to);
    if (!open.empty() && !may_be_read(to, from)) return false;
    while (!open.empty()) {
      const size_t group = open.back();
      open.pop_back();
      if (group == to) return true;
      look(group, kNoGroup);
    }
    return false;
  }

  // Whether a third group reads it, as far as its first readers tell.
  bool may_be_read(size_t group, size_t other) const {
    size_t looked = 0;
    for (const Id member : groups_[group].members) {
      for (const Id reader : readers_[member]) {
        const size_t of_reader = fused_.group_of[reader];
        if ((of_reader != group && of_reader != other) || ++looked == kMostReaders) return true;
      }
    }
    return false;
  }

  // The orders of the groups that one needs.
  std::vector<size_t> needed_by(size_t group) const {
    std::vector<size_t> needed;
    for (const Id id : needed_[group]) {
      const size_t other = fused_.group_of[id];
      if (other != group) needed.push_back(order_[other]);
    }
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    return needed;
  }

  void sort_groups() {
    std::vector<size_t> place(groups_.size(), kNoGroup);
    for (const size_t slot : slot_at_) {
      if (slot != kNoGroup) put(slot, place);
    }
    for (size_t& group : fused_.group_of) {
      if (group != kNoGroup) group = place[group];
    }
  }

  // Behind those that it needs.
  void put(size_t first, std::vector<size_t>& place) {
    struct Begun {
      size_t group;
      std::vector<size_t> needed;
      size_t done = 0;
    };
    std::vector<Begun> begun;
    const auto begin = [&](size_t group) {
      if (place[group] == kNoGroup) begun.push_back({group, needed_by(group)});
    };
    begin(first);
    while (!begun.empty()) {
      Begun& last = begun.back();
      if (last.done < last.needed.size()) {
        begin(slot_at_[last.needed[last.done++]]);
        continue;
      }
      Group& group = groups_[last.group];
      std::sort(group.members.begin(), group.members.end());
      place[last.group] = fused_.groups.size();
      fused_.groups.push_back(std::move(group));
      begun.pop_back();
    }
  }

  const Graph& graph_;
  const bool fuses_;
  const bool joins_rows_;
  Fused fused_;
  std::vector<std::vector<Id>> readers_;  // of what each node's memory is
  // By slot. Members are in no order until all are found.
  std::vector<Group> groups_;
  std::vector<std::vector<Id>> needed_;  // nodes of others, and some of its own
  std::vector<size_t> order_;            // that of its first node, or of what it joined
  std::vector<size_t> slot_at_;          // by order
  std::vector<size_t> seen_;             // the last search that came by
  size_t search_ = 0;
};

}  // namespace

Fused fuse(const Graph& graph, bool fuses, bool joins_rows) {
  return Fusion(graph, fuses, fuses && joins_rows).run();
}

}  // namespace hoist::graph::program
