// The device of this process that calls run on, with what moves their matrices: hoistd's, or under
// HOIST_GPU=inprocess the first GPU, in a context of the program's own.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "device/transfer.h"
#include "ops/gemm/call.h"

namespace hoist::gemm {

class Session {
 public:
  // The first call connects, or makes the context; in a child after fork() a new one is made.
  // Where no hoistd answers and there is a GPU, one is started: within `wait` it is waited for,
  // else a later call finds it. `unavailable` with the reason where there is no device.
  static Result<std::shared_ptr<Session>> get(std::chrono::milliseconds wait = {});

  // Whether a GPU is behind it: a hoistd may lend a CPU, for tests.
  bool has_gpu() const { return device_->properties().compute_major > 0; }

  // run.h; one call at a time, others wait: two that share the link end later than one after the
  // other.
  Status run(const hoist_blas_call& call);

  // "cuda", or "hoistd" for one that is served.
  const char* implementation() const;

 private:
  explicit Session(std::shared_ptr<device::Device> device);
  static Result<std::shared_ptr<device::Device>> open(std::chrono::milliseconds wait,
                                                      bool may_start);

  const std::shared_ptr<device::Device> device_;
  device::PinnedPool pool_;
  device::Transfer transfer_;
  std::mutex mutex_;
};

}  // namespace hoist::gemm
