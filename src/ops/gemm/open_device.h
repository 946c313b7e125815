// Where calls run: hoistd's devices, or those of this process.
#pragma once

#include <chrono>
#include <memory>

#include "base/result.h"
#include "device/device.h"

namespace hoist::gemm {

// Device number `index` by HOIST_GPU. Where no hoistd answers and `may_start`, one is started, and
// waited for up to `wait`. `unavailable` with the reason where there is none.
Result<std::shared_ptr<device::Device>> open_device(int index, bool may_start,
                                                    std::chrono::milliseconds wait);

}  // namespace hoist::gemm
