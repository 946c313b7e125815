// The plain implementation: what the CPU device runs, and the oracle of every other. Sums go over k
// in ascending order, in the precision of the type, as in the reference BLAS.
#pragma once

#include "ops/gemm/call.h"

namespace hoist::gemm {

// `call` has been checked (check.h). C must not overlap A or B.
void run_reference(const hoist_blas_call& call);

}  // namespace hoist::gemm
