// Where calls run: hoistd's devices, or those of this process.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "device/device.h"

namespace hoist::gemm {

// A daemon that cannot come up is not started at every call. Thread-safe.
class StartLimit {
 public:
  // Where there is a driver, and for who asks first in a while.
  bool may_start();

 private:
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> started_;
};

// Device number `index` by HOIST_GPU. Where no hoistd answers and `may_start`, one is started, and
// waited for up to `wait`. `unavailable` with the reason where there is none.
Result<std::shared_ptr<device::Device>> open_device(int index, bool may_start,
                                                    std::chrono::milliseconds wait);

}  // namespace hoist::gemm
