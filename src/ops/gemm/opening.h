// When a process opens a GPU. That takes tenths of a second, of the calling thread's time or of
// CPUs that the program's own BLAS would use. A process that ends soon should not pay for it: so
// the calls that a GPU would have made faster add up what they did not win, and when that is as
// much as opening costs, it is opened (the ski-rental rule, by estimates). One that ends right then
// has paid in vain, but no more than it might have won.
#pragma once

#include <atomic>

namespace hoist::gemm {

class Opening {
 public:
  // For a call that would win `won` seconds on a GPU, which to open takes `cost` seconds: whether
  // that is worth it. From then on it is. Thread-safe.
  bool is_worth(double won, double cost);
  bool is_decided() const { return is_decided_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> forgone_ = 0;
  std::atomic<bool> is_decided_ = false;
};

// What it takes this process, by HOIST_GPU and whether there is a hoistd's socket.
double opening_seconds();

}  // namespace hoist::gemm
