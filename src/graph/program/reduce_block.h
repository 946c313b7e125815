// Steps that reduce a block's rows, or sum along them.
#pragma once

#include <cstddef>

#include "graph/program/loop.h"
#include "graph/program/partial.h"

namespace hoist::graph::program {

// `at`: the block's place in each slot. `column`: the block's first one. A row that has several
// chunks is alone in its blocks; what it has come to waits in `partials` for the next chunk, and
// sums and products after the last one too.
void reduce_block(const Loop& loop, const LoopStep& step, std::byte* const* at, Partial* partials,
                  int64_t rows, int64_t column, int64_t width);
void scan_block(const Loop& loop, const LoopStep& step, std::byte* const* at, Partial* partials,
                int64_t rows, int64_t column, int64_t width);

}  // namespace hoist::graph::program
