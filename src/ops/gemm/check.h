// Which calls the engine may do in the place of the program's BLAS.
#pragma once

#include "ops/gemm/call.h"

namespace hoist::gemm {

// Null where the call is one; else why it stays with the original:
// - parameters that the routine would report (xerbla), or nothing to do: its own business;
// - alpha = 0: A and B are not read then, nor their NaN, and what is left is a pass over C;
// - C overlaps A or B in memory: what happens then depends on the order of the original's steps;
// - matrices larger than an address space.
const char* reason_to_pass(const hoist_blas_call& call);

}  // namespace hoist::gemm
