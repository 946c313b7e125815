// A call over several devices: each computes a part of the result, cut across the dimension that
// leaves the least to be uploaded to all of them.
#pragma once

#include <span>
#include <vector>

#include "device/transfer.h"
#include "ops/gemm/call.h"
#include "ops/gemm/plan.h"
#include "ops/gemm/residency.h"

namespace hoist::gemm {

// Up to `parts` calls that together are `call`, their results apart: panels of C, or products of a
// batch. One, the call itself, where a result cannot be cut (syrk, herk) or is too narrow.
std::vector<hoist_blas_call> split(const hoist_blas_call& call, size_t parts);

// A device with what moves its matrices.
struct Place {
  device::Device* device;
  device::Transfer* transfer;
  ResidentMatrices* resident;  // null: nothing stays
};

// As run() (run.h), each part at a place of its own and at the same time, all but the first on
// threads that end before it returns. Where one fails, nothing of the others remains.
Status run_spread(const hoist_blas_call& call, std::span<const Place> places,
                  uint64_t panel_bytes = kPanelBytes);

}  // namespace hoist::gemm
