// Memory of the first CUDA device, and device time, for tests and benchmarks of kernels.
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
Result<Stream> stream_on_cuda();

// Time between two points of a stream, which must outlive it, by the device's own clock.
class CudaTimer {
 public:
  static Result<CudaTimer> create(const Stream& stream);
  static Result<CudaTimer> create(const Stream&& stream) = delete;
  CudaTimer(CudaTimer&& other) noexcept
      : stream_(other.stream_),
        begin_(std::exchange(other.begin_, nullptr)),
        end_(std::exchange(other.end_, nullptr)) {}
  CudaTimer& operator=(CudaTimer&&) = delete;
  ~CudaTimer();

  Status start();
  // Waits for the work since start(); seconds.
  Result<double> stop();

 private:
  explicit CudaTimer(const Stream& stream) : stream_(&stream) {}
  const Stream* stream_;
  void* begin_ = nullptr;
  void* end_ = nullptr;
};

}  // namespace hoist::device
