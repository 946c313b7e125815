// Few long rows: parts of each by several blocks. Each phase is two kernels, of which the first one
// reduces parts, and the second one these partial results, in their order.
#pragma once

#include "graph/kernels/emit.h"
#include "graph/kernels/writer.h"

namespace hoist::graph::kernels {

Status emit_passes(const EmitContext& context, const GroupPlan& plan, RowShape shape);

// Adds the kernel to the steps.
Status finish_kernel(const EmitContext& context, KernelWriter& writer, int64_t blocks,
                     std::vector<std::pair<Storage, Storage>> in_place);
// Memories that a kernel of the whole group may read and write at the same place.
std::vector<std::pair<Storage, Storage>> pairs_in_place(const GroupPlan& plan);

}  // namespace hoist::graph::kernels
