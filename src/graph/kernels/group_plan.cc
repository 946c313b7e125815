#include "graph/kernels/group_plan.h"

#include <algorithm>

namespace hoist::graph::kernels {

using program::Access;
using program::Group;
using program::Level;
using program::Op;

bool Operand::is_of_row() const {
  return std::all_of(columns.begin(), columns.end(), [](int64_t stride) { return stride == 0; });
}

Storage Memories::of(Id node) {
  const auto found = known_.find(node);
  if (found != known_.end()) return found->second;
  const ir::Scalar type = *scalar_of(graph_[node].dtype);
  all_.push_back({node, type == ir::Scalar::boolean ? ir::Scalar::u8 : type,
                  static_cast<uint64_t>(graph_[node].elements())});
  return known_[node] = static_cast<Storage>(all_.size() - 1);
}

Storage Memories::scratch(ir::Scalar element, uint64_t count) {
  all_.push_back({std::nullopt, element == ir::Scalar::boolean ? ir::Scalar::u8 : element, count});
  return static_cast<Storage>(all_.size() - 1);
}

namespace {

struct Axis {
  int64_t extent = 1;
  Extents strides;  // of each operand
};

// Merges neighbours that every operand walks through in one go.
void merge(std::vector<Axis>& axes) {
  for (size_t i = axes.size(); i-- > 1;) {
    Axis& outer = axes[i - 1];
    const Axis& inner = axes[i];
    bool fits = true;
    for (size_t k = 0; k < inner.strides.size(); ++k) {
      fits &= outer.strides[k] == inner.strides[k] * inner.extent;
    }
    if (!fits) continue;
    outer.extent *= inner.extent;
    outer.strides = inner.strides;
    axes.erase(axes.begin() + static_cast<int64_t>(i));
  }
}

class Planner {
 public:
  Planner(const Graph& graph, const Fused& fused, const Group& group, Memories& memories)
      : graph_(graph), fused_(fused), group_(group), memories_(memories) {}

  Status add(Id id, bool is_written) {
    const Node& node = graph_[id];
    Member member;
    member.id = id;
    member.op = node.op;
    const auto type = scalar_of(node.dtype);
    if (!type) return refuse(node, "elements of such a type");
    member.type = *type;
    if (node.op == Op::matmul) {
      add_product(node);
    } else if (program::is_place(node.op)) {
      return add_place(node, std::move(member), is_written);
    } else if (program::is_reduction(node.op)) {
      member.accumulation = Accumulation::of(node.op, node.dtype);
      if (!member.accumulation) return refuse(node, "such a reduction");
      member.is_full = false;
    } else {
      if (!can_load(node)) return refuse(node, "elements of such a type");
      if (program::is_elementwise(node.op) && !can_compute(graph_, node)) {
        return refuse(node, "the operation");
      }
      member.is_full = *level_of(group_, node.shape) == Level::full;
      const bool is_sum = node.op == Op::cumulative_sum;
      member.is_scan = is_sum && node.shape[static_cast<size_t>(node.numbers[0])] != 1;
    }
    if (node.op != Op::matmul) {
      const bool reads_full = member.is_full || member.accumulation;
      const Level level = reads_full ? Level::full : Level::column;
      const Extents& shape = member.accumulation ? graph_[node.inputs[0]].shape : node.shape;
      for (const Id from : node.inputs) {
        if (node.op == Op::take_along && member.inputs.empty() && !member.table) {
          member.table = table_of(node, level);
        } else {
          member.inputs.push_back(input_of(from, level, shape));
        }
      }
    }
    finish(node, std::move(member), is_written);
    return {};
  }

  Status add_copy(Id from, const Extents& shape, ir::Scalar type, Storage to,
                  const Access& access) {
    Member member;
    if (!scalar_of(graph_[from].dtype)) return refuse(graph_[from], "elements of such a type");
    member.type = type;
    member.is_conversion = true;
    member.inputs = {input_of(from, Level::full, shape)};
    Operand made;
    made.storage = to;
    made.offset = access.offset;
    plan_.operands.push_back(std::move(made));
    strides_.push_back(domain_strides(group_, Level::full, shape, access));
    member.output = plan_.operands.size() - 1;
    plan_.members.push_back(std::move(member));
    return {};
  }

  GroupPlan finish() {
    std::vector<Axis> rows;
    std::vector<Axis> columns;
    const bool reduces =
        std::find(group_.reduced.begin(), group_.reduced.end(), true) != group_.reduced.end();
    for (size_t i = 0; i < group_.dims.size(); ++i) {
      Axis axis{group_.dims[i], {}};
      for (const Extents& strides : strides_) axis.strides.push_back(strides[i]);
      if (axis.extent == 1) continue;
      (group_.reduced[i] || !reduces ? columns : rows).push_back(std::move(axis));
    }
    merge(rows);
    merge(columns);
    take(rows, plan_.row_axes, plan_.rows, &Operand::rows);
    take(columns, plan_.column_axes, plan_.columns, &Operand::columns);
    for (const Operand& operand : plan_.operands) {
      if (!operand.constant) plan_.is_wide |= memories_[operand.storage].count >= kNarrow;
    }
    plan_.is_wide |= static_cast<uint64_t>(plan_.rows * plan_.columns) >= kNarrow;
    return std::move(plan_);
  }

 private:
  bool can_load(const Node& node) const {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](Id input) { return scalar_of(graph_[input].dtype).has_value(); });
  }

  void finish(const Node& node, Member member, bool is_written) {
    for (const Input& input : member.inputs) {
      if (!input.operand) member.phase = std::max(member.phase, plan_.members[input.member].ready);
    }
    member.ready = member.phase + (member.accumulation ? 1 : 0);
    plan_.last_phase = std::max(plan_.last_phase, member.phase);
    if (is_written) {
      member.output = operand(member.id, {0, program::dense_strides(node.shape)},
                              member.is_full ? Level::full : Level::column, node.shape);
    }
    member_of_[member.id] = plan_.members.size();
    plan_.members.push_back(std::move(member));
  }

  // Two reductions: the row's extreme, then the least column that has it.
  Status add_place(const Node& node, Member member, bool is_written) {
    const Node& from = graph_[node.inputs[0]];
    const Input values = input_of(node.inputs[0], Level::full, from.shape);
    const bool is_minimum = node.op == Op::argmin;
    Member extreme;
    extreme.id = member.id;
    extreme.op = is_minimum ? Op::reduce_minimum : Op::reduce_maximum;
    extreme.is_full = false;
    extreme.accumulation = Accumulation::of(extreme.op, from.dtype);
    if (!extreme.accumulation) return refuse(node, "elements of such a type");
    extreme.type = *scalar_of(from.dtype);
    extreme.inputs = {values};
    finish(node, std::move(extreme), false);
    member.is_full = false;
    member.is_place = true;
    const bool is_short = from.shape[static_cast<size_t>(node.numbers[0])] <= INT32_MAX;
    member.accumulation = Accumulation::of(Op::reduce_minimum, is_short ? DType::i32 : DType::i64);
    member.inputs = {values, {std::nullopt, plan_.members.size() - 1}};
    finish(node, std::move(member), is_written);
    return {};
  }

  Table table_of(const Node& node, Level level) {
    const Id from = node.inputs[0];
    const auto axis = static_cast<size_t>(node.numbers[0]);
    Table table;
    table.extent = graph_[from].shape[axis];
    Extents shape = node.shape;
    shape[axis] = table.extent;
    const program::Origin& origin = fused_.origins[from];
    Access access = program::broadcast_access(shape, graph_[from].shape, origin.access);
    table.step = access.strides[axis];
    access.strides[axis] = 0;
    table.operand = operand(origin.root, access, level, node.shape, true);
    return table;
  }

  // Some room: loops go a step beyond the end.
  static constexpr uint64_t kNarrow = uint64_t{1} << 30;

  static Status refuse(const Node& node, const char* what) {
    return fail(ErrorCode::unsupported, std::string("kernels of GPUs have not ") + what + ": " +
                                            std::string(program::properties(node.op).name));
  }

  void take(const std::vector<Axis>& axes, Extents& extents, int64_t& count,
            Extents Operand::*strides) {
    for (const Axis& axis : axes) {
      extents.push_back(axis.extent);
      count *= axis.extent;
      for (size_t k = 0; k < plan_.operands.size(); ++k) {
        (plan_.operands[k].*strides).push_back(axis.strides[k]);
      }
    }
  }

  size_t operand(Id root, const Access& access, Level level, const Extents& shape,
                 bool is_table = false) {
    Operand made;
    const Node& node = graph_[root];
    if (node.is_number()) {
      made.constant = &node;
    } else {
      made.storage = memories_.of(root);
    }
    made.offset = access.offset;
    made.is_table = is_table;
    Extents strides = domain_strides(group_, level, shape, access);
    for (size_t i = 0; i < plan_.operands.size(); ++i) {
      const Operand& known = plan_.operands[i];
      if (known.storage == made.storage && known.constant == made.constant &&
          known.offset == made.offset && known.is_table == is_table && strides_[i] == strides) {
        return i;
      }
    }
    plan_.operands.push_back(std::move(made));
    strides_.push_back(std::move(strides));
    return plan_.operands.size() - 1;
  }

  Input input_of(Id id, Level level, const Extents& shape) {
    const program::Origin& origin = fused_.origins[id];
    if (const auto found = member_of_.find(origin.root); found != member_of_.end()) {
      return {std::nullopt, found->second};
    }
    const Access access = program::broadcast_access(shape, graph_[id].shape, origin.access);
    return {operand(origin.root, access, level, shape), 0};
  }

  void add_product(const Node& node) {
    const size_t rank = node.shape.size();
    PlannedProduct product;
    product.depth = graph_[node.inputs[0]].shape.back();
    const auto matrix = [&](Id from, size_t depth_axis, int64_t& step) {
      Extents shape = node.shape;
      shape[depth_axis] = product.depth;
      const program::Origin& origin = fused_.origins[from];
      Access access = program::broadcast_access(shape, graph_[from].shape, origin.access);
      step = product.depth == 1 ? 0 : access.strides[depth_axis];
      access.strides[depth_axis] = 0;
      return operand(origin.root, access, Level::full, node.shape);
    };
    product.a = matrix(node.inputs[0], rank - 1, product.a_step);
    product.b = matrix(node.inputs[1], rank - 2, product.b_step);
    plan_.product = product;
  }

  const Graph& graph_;
  const Fused& fused_;
  const Group& group_;
  Memories& memories_;
  GroupPlan plan_;
  std::vector<Extents> strides_;  // of each operand over the group's axes
  std::map<Id, size_t> member_of_;
};

}  // namespace

Result<GroupPlan> plan_group(const Graph& graph, const Fused& fused, const Group& group,
                             const std::vector<bool>& is_written, Memories& memories) {
  Planner planner(graph, fused, group, memories);
  for (const Id id : group.members) {
    if (Status added = planner.add(id, is_written[id]); !added) return added.error();
  }
  return planner.finish();
}

Result<GroupPlan> plan_copy(const Graph& graph, const Fused& fused, Id from, const Extents& shape,
                            ir::Scalar type, Storage to, const Access& access, Memories& memories) {
  Group group;
  group.dims = program::squeezed(shape);
  group.reduced.assign(group.dims.size(), false);
  Planner planner(graph, fused, group, memories);
  if (Status added = planner.add_copy(from, shape, type, to, access); !added) return added.error();
  return planner.finish();
}

}  // namespace hoist::graph::kernels
