// A whole call on a device: matrices there, computation, result back, overlapped by panels
// (plan.h).
#pragma once

#include <memory>

#include "device/transfer.h"
#include "ops/gemm/call.h"
#include "ops/gemm/plan.h"
#include "ops/gemm/residency.h"

namespace hoist::gemm {

// `call` has been checked (check.h) and its matrices are in host memory; `pool` is of the device
// that computes. Returns when the result is in place. On an error C is what it was before:
// `exhausted` where the matrices do not fit the device's memory, else what the device answers.
// One thread more than `transfer` uses runs meanwhile, and ends before it returns. `panel_bytes`:
// see make_plan().
// What `resident` has of A and B is not uploaded, and what it takes stays there; null: nothing.
Status run(const hoist_blas_call& call, device::Device& device, device::Transfer& transfer,
           uint64_t panel_bytes = kPanelBytes, ResidentMatrices* resident = nullptr);

// The same in two steps, for calls that are parts of one.
class UndoableRun {
 public:
  UndoableRun(const hoist_blas_call& call, device::Device& device, device::Transfer& transfer,
              uint64_t panel_bytes, ResidentMatrices* resident);
  ~UndoableRun();
  Status run();
  // After a run that was no error: makes C what it was before.
  void undo();

 private:
  const hoist_blas_call call_;
  device::Device& device_;
  device::Transfer& transfer_;
  const uint64_t panel_bytes_;
  ResidentMatrices* const resident_;
  class Execution;
  std::unique_ptr<Execution> execution_;
};

}  // namespace hoist::gemm
