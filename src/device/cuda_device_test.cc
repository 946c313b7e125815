// CudaDevice over a runtime that answers what it is told to.
#include "device/cuda_device.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hoist::device {
namespace {

// Numbers of cudaError_t.
constexpr int kOutOfMemory = 2;
constexpr int kNotSupported = 801;
constexpr int kIllegalAddress = 700;
constexpr int kContained = 226;
constexpr int kInvalidValue = 1;

int answer = 0;
int calls = 0;
size_t unused_memory = 0;
size_t total_memory = 0;
alignas(16) std::array<std::byte, 64> memory;

int say() {
  ++calls;
  return answer;
}

constexpr CudaCalls kRuntime = {
    .stream_create = [](int, void**) { return say(); },
    .stream_destroy = [](int, void*) { return say(); },
    .stream_synchronize = [](int, void*) { return say(); },
    .stream_wait_event = [](int, void*, void*) { return say(); },
    .stream_call =
        [](int, void*, void (*function)(void*), void* argument) {
          if (answer == 0) function(argument);
          return say();
        },
    .event_create = [](int, void**) { return say(); },
    .event_destroy = [](int, void*) { return say(); },
    .event_record = [](int, void*, void*) { return say(); },
    .event_synchronize = [](int, void*) { return say(); },
    .event_done =
        [](int, void*, bool* done) {
          *done = true;
          return say();
        },
    .allocate =
        [](int, void** data, size_t, void*) {
          *data = memory.data();
          return say();
        },
    .free = [](int, void*, void*) { return say(); },
    .trim = [](int) { return say(); },
    .memory =
        [](int, size_t* unused, size_t* total) {
          *unused = unused_memory;
          *total = total_memory;
          return say();
        },
    .copy = [](int, void*, const void*, size_t, void*) { return say(); },
    .fill = [](int, void*, int, size_t, void*) { return say(); },
    .write_value = [](int, uint32_t*, uint32_t, void*) { return say(); },
    .pin = [](int, void*, size_t) { return say(); },
    .unpin = [](int, void*) { return say(); },
    .is_pinned =
        [](int, const void*, bool* pinned) {
          *pinned = true;
          return say();
        },
    .allow_access = [](int, int) { return say(); },
    .is_sticky = [](int error) { return error == kIllegalAddress || error == kContained; },
    .copy_kernel = [](int, const CopyKernel&, void*) { return say(); },
};

DeviceProperties a_gpu() {
  DeviceProperties properties;
  properties.kind = DeviceKind::cuda;
  return properties;
}

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override { answer = calls = 0; }

  // Every call's answer.
  std::vector<Status> ask_all() {
    std::byte* const data = memory.data();
    uint32_t word = 0;
    const auto status_of = [](const auto& result) {
      return result ? Status() : Status(result.error());
    };
    return {status_of(device_.create_stream()),
            device_.synchronize(StreamHandle{}),
            device_.call({}, [this] { ++called_; }),
            status_of(device_.create_event()),
            device_.record({}, {}),
            device_.wait({}, {}),
            status_of(device_.is_done({})),
            device_.synchronize(EventHandle{}),
            status_of(device_.allocate(16, {})),
            device_.trim(),
            device_.copy(data, data + 16, 16, {}),
            device_.copy(data, data, 0, {}),
            device_.fill(data, std::byte{1}, 16, {}),
            device_.fill(data, std::byte{1}, 0, {}),
            device_.write_value(&word, 1, {}),
            device_.start_copy_kernel({}, {}),
            device_.pin(data, 16),
            device_.unpin(data),
            device_.status()};
  }

  CudaDevice device_{a_gpu(), kRuntime};
  int called_ = 0;
};

TEST_F(CudaDeviceTest, Works) {
  for (const Status& status : ask_all()) EXPECT_TRUE(status);
  EXPECT_TRUE(device_.is_pinned(memory.data(), 16));
  EXPECT_FALSE(device_.is_pinned(memory.data(), 0));
  EXPECT_EQ(called_, 1);
}

TEST_F(CudaDeviceTest, TellsMemoryWhereItIsOpen) {
  unused_memory = total_memory = 0;
  EXPECT_EQ(device_.memory().error().code, ErrorCode::unavailable);
  unused_memory = 30;
  total_memory = 100;
  const DeviceMemory memory = device_.memory().value();
  EXPECT_EQ(memory.used, 70U);
  EXPECT_EQ(memory.total, 100U);
  answer = kInvalidValue;
  EXPECT_EQ(device_.memory().error().code, ErrorCode::internal);
  EXPECT_TRUE(device_.status());
}

TEST_F(CudaDeviceTest, ErrorsThatPassAreOfTheCallAlone) {
  for (const auto& [error, code] : {std::pair(kOutOfMemory, ErrorCode::exhausted),
                                    std::pair(kNotSupported, ErrorCode::unsupported),
                                    std::pair(kInvalidValue, ErrorCode::internal)}) {
    answer = error;
    const Result<void*> allocated = device_.allocate(16, {});
    ASSERT_FALSE(allocated);
    EXPECT_EQ(allocated.error().code, code);
    EXPECT_NE(allocated.error().message.find("allocate 16 bytes"), std::string::npos);
    EXPECT_FALSE(device_.is_pinned(memory.data(), 16));
    EXPECT_TRUE(device_.status());
    answer = 0;
    EXPECT_TRUE(device_.allocate(16, {}));
  }
}

TEST_F(CudaDeviceTest, IsLostByAnErrorThatStays) {
  for (const int error : {kIllegalAddress, kContained}) {
    CudaDevice lost(a_gpu(), kRuntime);
    answer = error;
    EXPECT_EQ(lost.synchronize(StreamHandle{}).error().code, ErrorCode::internal);
    answer = 0;
    EXPECT_EQ(lost.status().error().code, ErrorCode::unavailable);
  }
}

TEST_F(CudaDeviceTest, WhatWasLostIsNotAskedAgain) {
  answer = kIllegalAddress;
  const Status first = device_.copy(memory.data(), memory.data() + 16, 16, {});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::internal);
  answer = kContained;  // the reason stays the first one
  const int before = calls;
  for (const Status& status : ask_all()) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::unavailable);
    EXPECT_NE(status.error().message.find(first.error().message), std::string::npos);
  }
  EXPECT_FALSE(device_.is_pinned(memory.data(), 16));
  device_.free(memory.data(), {});
  device_.destroy(StreamHandle{});
  device_.destroy(EventHandle{});
  EXPECT_EQ(calls, before);
  EXPECT_EQ(called_, 0);
}

}  // namespace
}  // namespace hoist::device
