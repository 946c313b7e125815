// Kernels of planned groups.
#pragma once

#include <vector>

#include "graph/kernels/group_plan.h"

namespace hoist::graph::kernels {

inline constexpr int64_t kThreads = 256;  // of a block

// How rows are shared out.
enum class RowTeam : uint8_t {
  thread,  // one to a thread
  warp,    // to 32
  block,   // to a block
};
struct RowShape {
  RowTeam team = RowTeam::block;
  int64_t parts = 1;  // of a row; more: by several kernels
};
RowShape row_shape(const GroupPlan& plan, const Memories& memories, const LowerOptions& options);

bool has_rows(const GroupPlan& plan);
bool has_scan(const GroupPlan& plan);

struct EmitContext {
  const Graph& graph;
  const LowerOptions& options;
  Lowered& lowered;
  Memories& memories;

  // "k3"
  std::string next_name() const { return "k" + std::to_string(lowered.module.kernels().size()); }
};

// The group as one kernel, or as several where rows are few and long. The latter's partial results
// are memories of their own.
Status emit_group(const EmitContext& context, const GroupPlan& plan);
// Groups without reductions, all in one launch.
Status emit_side_by_side(const EmitContext& context, const std::vector<GroupPlan>& plans);

// Whether one block is enough for it.
bool is_tiny(const GroupPlan& plan);
// Tiny groups, one after another in one block.
Status emit_in_one_block(const EmitContext& context, const std::vector<GroupPlan>& plans);

}  // namespace hoist::graph::kernels
