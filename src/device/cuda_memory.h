// Device memory and device time, for what runs on a CUDA device (see device/cuda_plugin.h).
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/result.h"

namespace hoist::device {

// Owned memory on device 0, at least 256-byte aligned. Copies are synchronous.
class CudaBuffer {
 public:
  CudaBuffer() = default;
  CudaBuffer(CudaBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  CudaBuffer& operator=(CudaBuffer&& other) noexcept;
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  ~CudaBuffer();

  // `unavailable` without a device, `exhausted` without memory.
  static Result<CudaBuffer> allocate(size_t size);
  static Result<CudaBuffer> copy_of(std::span<const std::byte> bytes);

  // `invalid_argument` where `bytes` is longer than the buffer behind `offset`.
  Status upload(std::span<const std::byte> bytes, size_t offset = 0);
  Status download(std::span<std::byte> bytes, size_t offset = 0) const;
  // Every byte becomes `value`: outputs are poisoned before they are checked.
  Status fill(std::byte value);

  void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

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
