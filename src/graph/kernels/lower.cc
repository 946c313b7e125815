#include <algorithm>

#include "graph/kernels/lowered.h"
#include "graph/kernels/products.h"

namespace hoist::graph::kernels {

namespace {

using program::Group;
using program::kNoGroup;

// Nodes that are read by other groups, or are outputs of the graph.
std::vector<bool> written_nodes(const Graph& graph, const Fused& fused) {
  std::vector<bool> written(graph.size());
  for (const Id output : graph.outputs()) written[output] = true;
  for (Id id = 0; id < graph.size(); ++id) {
    if (fused.group_of[id] == kNoGroup) continue;
    for (const Id input : graph[id].inputs) {
      const Id root = fused.origins[input].root;
      if (fused.group_of[root] != fused.group_of[id]) written[root] = true;
    }
  }
  return written;
}

class Lowering {
 public:
  Lowering(const Graph& graph, const Fused& fused, const LowerOptions& options, Lowered& lowered)
      : graph_(graph),
        fused_(fused),
        options_(options),
        lowered_(lowered),
        written_(written_nodes(graph, fused)),
        memories_(graph, lowered.memories) {}

  Status run() {
    for (const Id id : graph_.inputs()) {
      if (!scalar_of(graph_[id].dtype)) {
        return fail(ErrorCode::unsupported, "kernels of GPUs have not an input's element type");
      }
      (void)memories_.of(id);
    }
    for (const Id id : graph_.outputs()) (void)memories_.of(id);
    for (group_ = 0; group_ < fused_.groups.size(); ++group_) {
      const Group& group = fused_.groups[group_];
      Status done = group.is_concatenation ? concatenate(group)
                    : group.product        ? multiply(group)
                                           : add(group);
      if (!done) return done;
    }
    return emit_tiny();
  }

 private:
  EmitContext context() { return {graph_, options_, lowered_, memories_}; }

  // Tiny groups wait for others that may follow in the same block.
  Status add(const Group& group) {
    Result<GroupPlan> plan = plan_group(graph_, fused_, group, written_, memories_);
    if (!plan) return plan.error();
    if (plan->rows * plan->columns == 0) return {};
    if (is_tiny(*plan)) {
      tiny_.push_back(*std::move(plan));
      return {};
    }
    if (Status before = emit_tiny(); !before) return before;
    return emitted(emit_group(context(), *plan));
  }

  Status emit_tiny() {
    const std::vector<GroupPlan> plans = std::exchange(tiny_, {});
    if (plans.empty()) return {};
    const bool is_product = plans[0].product && plans[0].columns < kThreads;
    if (plans.size() == 1 && !is_product) return emitted(emit_group(context(), plans[0]));
    return emitted(emit_in_one_block(context(), plans));
  }

  Status emitted(Status status) {
    lowered_.group_of.resize(lowered_.steps.size(), group_);
    return status;
  }

  // The product by itself where reductions follow, or a library has to make it.
  Status multiply(const Group& group) {
    const Id product = *group.product;
    const bool reduces =
        std::find(group.reduced.begin(), group.reduced.end(), true) != group.reduced.end();
    const bool generates = is_generated(graph_, product, options_);
    if (generates && !reduces) return add(group);
    const Id result = generates ? product : rounded(group, product);
    written_[result] = true;
    if (graph_[product].elements() == 0) return {};
    if (generates) {
      Group alone = group;
      alone.members = {product};
      alone.reduced.assign(alone.dims.size(), false);
      if (Status done = add(alone); !done) return done;
    } else {
      if (Status before = emit_tiny(); !before) return before;
      if (Status done = emitted(emit_product(context(), fused_, product, result)); !done)
        return done;
    }
    Group rest;
    for (const Id member : group.members) {
      if (member != product && member != result) rest.members.push_back(member);
    }
    if (rest.members.empty()) return {};
    for (size_t i = 0; i < group.dims.size(); ++i) {
      if (group.dims[i] == 1) continue;
      rest.dims.push_back(group.dims[i]);
      rest.reduced.push_back(group.reduced[i]);
    }
    return add(rest);
  }

  // The only node that reads the product, if it rounds to the type of the factors: libraries do
  // that in passing. Else the product.
  Id rounded(const Group& group, Id product) const {
    const Id last = group.members.back();
    std::optional<Id> reader;
    for (Id id = 0; id <= last; ++id) {
      if (fused_.group_of[id] == kNoGroup) continue;
      for (const Id input : graph_[id].inputs) {
        if (fused_.origins[input].root != product) continue;
        if (reader || input != product) return product;
        reader = id;
      }
    }
    if (!reader || written_[product] || graph_[*reader].op != program::Op::cast) return product;
    const DType dtype = graph_[*reader].dtype;
    const auto has_type = [&](Id input) { return graph_[input].dtype == dtype; };
    const std::vector<Id>& factors = graph_[product].inputs;
    const bool is_narrow = dtype == DType::f16 || dtype == DType::bf16;
    return is_narrow && std::all_of(factors.begin(), factors.end(), has_type) ? *reader : product;
  }

  // A copy of each part into its place.
  Status concatenate(const Group& group) {
    const Id id = group.members[0];
    const Node& node = graph_[id];
    const Extents strides = program::dense_strides(node.shape);
    const auto axis = static_cast<size_t>(node.numbers[0]);
    std::vector<GroupPlan> parts;
    int64_t begin = 0;
    for (const Id input : node.inputs) {
      const Extents& shape = graph_[input].shape;
      const program::Access to{begin * strides[axis], strides};
      Result<GroupPlan> plan = plan_copy(graph_, fused_, input, shape, *scalar_of(node.dtype),
                                         memories_.of(id), to, memories_);
      if (!plan) return plan.error();
      if (plan->columns != 0) parts.push_back(*std::move(plan));
      begin += shape[axis];
    }
    if (Status before = emit_tiny(); !before) return before;
    if (parts.empty()) return {};
    return emitted(emit_side_by_side(context(), parts));
  }

  const Graph& graph_;
  const Fused& fused_;
  const LowerOptions& options_;
  Lowered& lowered_;
  std::vector<bool> written_;
  Memories memories_;
  std::vector<GroupPlan> tiny_;
  size_t group_ = 0;
};

}  // namespace

Result<Lowered> lower(const Graph& graph, const Fused& fused, const LowerOptions& options) {
  Lowered lowered;
  if (Status done = Lowering(graph, fused, options, lowered).run(); !done) return done.error();
  return lowered;
}

}  // namespace hoist::graph::kernels
