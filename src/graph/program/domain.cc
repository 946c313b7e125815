#include "graph/program/domain.h"

#include <algorithm>

namespace hoist::graph::program {
namespace {

struct Axis {
  int64_t extent;
  Extents strides;  // of each operand
};

Extents extents_of(const std::vector<Axis>& axes) {
  Extents extents;
  for (const Axis& axis : axes) extents.push_back(axis.extent);
  return extents;
}

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

}  // namespace

Place place_of(const Graph& graph, Id node) {
  if (graph[node].op == Op::input) return Place::input;
  if (graph[node].op == Op::constant) return Place::constant;
  return graph.output_of(node) ? Place::output : Place::arena;
}

void set_domain(const Group& group, std::vector<RawOperand> operands, Loop& loop) {
  std::vector<Axis> kept;
  std::vector<Axis> columns;
  for (size_t i = 0; i < group.dims.size(); ++i) {
    Axis axis{group.dims[i], {}};
    for (const RawOperand& raw : operands) axis.strides.push_back(raw.strides[i]);
    const bool is_column = group.product ? i + 1 == group.dims.size() : group.reduced[i];
    (is_column ? columns : kept).push_back(std::move(axis));
  }
  merge(kept);
  merge(columns);
  if (!group.reduces() && !group.product && !kept.empty()) {
    columns.push_back(std::move(kept.back()));
    kept.pop_back();
  }
  loop.rows = 1;
  Axis rows{1, Extents(operands.size(), 0)};
  if (!kept.empty()) {
    rows = std::move(kept.back());
    kept.pop_back();
  }
  loop.rows = rows.extent;
  loop.outer = extents_of(kept);
  loop.column_axes = extents_of(columns);
  loop.columns = element_count(loop.column_axes);
  for (size_t k = 0; k < operands.size(); ++k) {
    Operand operand = std::move(operands[k].operand);
    for (const Axis& axis : kept) operand.outer.push_back(axis.strides[k]);
    operand.row = rows.strides[k];
    for (const Axis& axis : columns) operand.columns.push_back(axis.strides[k]);
    if (std::all_of(operand.columns.begin(), operand.columns.end(),
                    [](int64_t stride) { return stride == 0; })) {
      operand.columns = {0};
    }
    loop.operands.push_back(std::move(operand));
  }
}

}  // namespace hoist::graph::program
