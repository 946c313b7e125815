// Memory of the first CUDA device, and device time: what kernels of the plug-in's default stream
// need besides (see device/cuda_plugin.h). A Buffer's own copies come after such a kernel.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/result.h"
#include "device/buffer.h"

namespace hoist::device {

// `unavailable` without a device, `exhausted` without memory.
Result<Buffer> allocate_on_cuda(size_t size);
Result<Buffer> copy_to_cuda(std::span<const std::byte> bytes);

// Waits for all work; reports what went wrong in it.
Status cuda_synchronize();

// Time between two points of the default stream, by the device's own clock.
class CudaTimer {
 public:
  static Result<CudaTimer> create();
  CudaTimer(CudaTimer&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), end_(std::exchange(other.end_, nullptr)) {}
  CudaTimer& operator=(CudaTimer&&) = delete;
  ~CudaTimer();

  Status start();
  // Waits for the work since start(); seconds.
  Result<double> stop();

 private:
  CudaTimer(void* begin, void* end) : begin_(begin), end_(end) {}
  void* begin_;
  void* end_;
};

}  // namespace hoist::device
