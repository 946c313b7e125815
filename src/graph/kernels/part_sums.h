// Running sums of few long rows: sums of a row's parts first, then for each part the sum of all
// before it, which its own running sums go on from.
#pragma once

#include <map>

#include "graph/kernels/group_plan.h"
#include "graph/kernels/writer.h"

namespace hoist::graph::kernels {

struct PartSums {
  // The group's plan with more members behind its own: reductions of what running sums add up,
  // which come a phase before them.
  GroupPlan plan;
  std::map<size_t, size_t> sum_of;  // running sums: those reductions
};
PartSums with_part_sums(GroupPlan plan);

// In a kernel: puts the sum of the row's parts before each part in the place of its own sum, which
// lies at part * rows + row. By one thread, or by all of a block, which come to it together.
void sum_before_parts(KernelWriter& writer, const ir::Array* parts, Value row, int64_t rows,
                      int64_t count, bool is_block);

}  // namespace hoist::graph::kernels
