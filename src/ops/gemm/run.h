// A whole call on a device: matrices there, computation, result back, overlapped by panels
// (plan.h).
#pragma once

#include "device/transfer.h"
#include "ops/gemm/call.h"

namespace hoist::gemm {

// `call` has been checked (check.h) and its matrices are in host memory; `pool` is of the device
// that computes. Returns when the result is in place. On an error C is what it was before:
// `exhausted` where the matrices do not fit the device's memory, else what the device answers.
// One thread more than `transfer` uses runs meanwhile, and ends before it returns. `panel_bytes`:
// see make_plan().
Status run(const hoist_blas_call& call, device::Device& device, device::Transfer& transfer,
           uint64_t panel_bytes);
Status run(const hoist_blas_call& call, device::Device& device, device::Transfer& transfer);

}  // namespace hoist::gemm
