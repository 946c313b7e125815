// gemm as an operation of placement: what `hoist tune` measures.
#pragma once

#include "placement/operation.h"

namespace hoist::gemm {

// Variants "s", "d", "c", "z" (square products, three matrices in the bytes), implementations
// "original" (program_blas.h), "cuda" (session.h: as programs reach it, so through hoistd unless
// HOIST_GPU=inprocess), and "cuda-2", "cuda-4"… where the machine has so many. Measuring is
// `unavailable` without a BLAS or a GPU.
placement::Operation operation();

}  // namespace hoist::gemm
