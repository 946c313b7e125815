// The matrix product at the head of a kernel.
#pragma once

#include <cstddef>

#include "graph/program/loop.h"

namespace hoist::graph::program {

// Rows `first` to `last` of C. `origins`: of the operands. `packed`: the B of which the scratch
// memory holds a copy; null at first.
void run_product(const Loop& loop, std::byte* const* origins, std::byte* scratch, int64_t first,
                 int64_t last, const void*& packed);

}  // namespace hoist::graph::program
