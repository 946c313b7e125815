// Devices for tests: those that there are, and one that fails when it is told to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/cpu_device.h"
#include "device/pinned_pool.h"

namespace hoist::device {

// Runs each case on the CPU device and on the first GPU; skipped without one.
class OnDevices : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Result<Device*> found = find_device(GetParam());
    if (!found) GTEST_SKIP() << found.error().message;
    device_ = *found;
  }
  Device& device() const { return *device_; }

 private:
  Device* device_ = nullptr;
};

// With pinned memory, which outlives what tests make of it.
class OnDevicesWithPool : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (!IsSkipped()) pool_ = std::make_unique<PinnedPool>(device());
  }
  std::unique_ptr<PinnedPool> pool_;
};

inline const auto kTestDevices = testing::Values("cpu", "cuda");

inline std::string device_name(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

// The same bytes for the same seed.
inline std::vector<std::byte> random_bytes(size_t size, uint64_t seed = 7) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + at, &word, std::min(size - at, sizeof word));
  }
  return bytes;
}

// A CPU device that is lost after a number of operations: all that follow are refused. Work that it
// took before is still done, as a GPU may still do.
class FailingDevice : public CpuDevice {
 public:
  explicit FailingDevice(int operations) : left_(operations) {}

  // From now on.
  void fail_after(int operations) { left_ = operations; }
  // Whether host memory counts as pinned.
  void pretend_pinned() { pinned_ = true; }

  Status status() const override { return left_ > 0 ? Status() : lost(); }
  Result<StreamHandle> create_stream() override {
    if (!spend()) return lost();
    return CpuDevice::create_stream();
  }
  Status synchronize(StreamHandle stream) override {
    return spend() ? CpuDevice::synchronize(stream) : lost();
  }
  Status call(StreamHandle stream, std::function<void()> function) override {
    return spend() ? CpuDevice::call(stream, std::move(function)) : lost();
  }
  Result<EventHandle> create_event() override {
    if (!spend()) return lost();
    return CpuDevice::create_event();
  }
  Status record(EventHandle event, StreamHandle stream) override {
    return spend() ? CpuDevice::record(event, stream) : lost();
  }
  Status wait(StreamHandle stream, EventHandle event) override {
    return spend() ? CpuDevice::wait(stream, event) : lost();
  }
  Result<bool> is_done(EventHandle event) override {
    if (!spend()) return lost();
    return CpuDevice::is_done(event);
  }
  Status synchronize(EventHandle event) override {
    return spend() ? CpuDevice::synchronize(event) : lost();
  }
  Result<void*> allocate(size_t size, StreamHandle stream) override {
    if (!spend()) return lost();
    return CpuDevice::allocate(size, stream);
  }
  Status copy(void* to, const void* from, size_t size, StreamHandle stream) override {
    return spend() ? CpuDevice::copy(to, from, size, stream) : lost();
  }
  Status write_value(uint32_t* word, uint32_t value, StreamHandle stream) override {
    return spend() ? CpuDevice::write_value(word, value, stream) : lost();
  }
  Status start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream) override {
    return spend() ? CpuDevice::start_copy_kernel(copy_kernel, stream) : lost();
  }
  Status pin(void* data, size_t size) override { return spend() ? Status() : lost(); }
  bool is_pinned(const void* data, size_t size) const override { return pinned_; }

 private:
  bool spend() { return --left_ >= 0; }
  static Error lost() { return fail(ErrorCode::unavailable, "lost (test)"); }

  std::atomic<int> left_;
  bool pinned_ = false;
};

}  // namespace hoist::device
