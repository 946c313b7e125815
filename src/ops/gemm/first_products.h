// The first products on a GPU take half a second: cuBLAS is loaded, makes a handle for the device,
// and loads kernels for each type. hoistd does that aside when it is first asked, and says
// meanwhile that it is not ready, so that a program's first call is no slower than its own BLAS.
#pragma once

#include <mutex>
#include <thread>

#include "base/result.h"
#include "device/device.h"

namespace hoist::gemm {

// Small ones of every type on `device`; returns when they are done. `unavailable`: no cuBLAS.
Status run_first_products(device::Device& device);

// Thread-safe; for one device.
class FirstProducts {
 public:
  using Work = Status (*)(device::Device& device);
  explicit FirstProducts(Work work = run_first_products) : work_(work) {}
  // Waits for what it has begun.
  ~FirstProducts();

  // Begins the work at the first call. `unavailable` while it is under way, and where it found that
  // there will never be a product; other failures are left to the products themselves.
  Status ask(device::Device& device);

 private:
  enum class State { none, under_way, done };

  const Work work_;
  std::mutex mutex_;
  State state_ = State::none;
  Status outcome_;
  std::thread thread_;
};

}  // namespace hoist::gemm
