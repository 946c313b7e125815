// Recorded work: what it does when it is launched, again and again, and what is refused.
#include "device/captured_work.h"

#include <gtest/gtest.h>

#include <array>

#include "device/buffer.h"

namespace hoist::device {
namespace {

TEST(CapturedWorkTest, OtherDevicesAreRefused) {
  bool is_called = false;
  const auto work = CapturedWork::capture(cpu_device(), [&](const Stream&) {
    is_called = true;
    return Status();
  });
  ASSERT_FALSE(work);
  EXPECT_EQ(work.error().code, ErrorCode::unsupported);
  EXPECT_FALSE(is_called);
}

class CapturedWorkGpu : public testing::Test {
 protected:
  void SetUp() override {
    const Result<Device*> found = cuda_device();
    if (!found) GTEST_SKIP() << found.error().message;
    device_ = *found;
  }
  Device& device() const { return *device_; }

 private:
  Device* device_ = nullptr;
};

TEST_F(CapturedWorkGpu, IsDoneAtEachLaunch) {
  Buffer from = Buffer::allocate(device(), 1000).value();
  Buffer to = Buffer::allocate(device(), 1000).value();
  ASSERT_TRUE(to.fill(std::byte{1}));
  const auto work = CapturedWork::capture(device(), [&](const Stream& stream) {
    EXPECT_TRUE(is_being_captured(stream).value());
    return device().copy(to.data(), from.data(), 1000, stream.handle());
  });
  ASSERT_TRUE(work) << work.error().message;
  std::array<std::byte, 1000> found;
  ASSERT_TRUE(to.download(found));
  EXPECT_EQ(found[999], std::byte{1});  // nothing was done yet
  Stream stream = Stream::create(device()).value();
  EXPECT_FALSE(is_being_captured(stream).value());
  for (const std::byte value : {std::byte{2}, std::byte{3}}) {
    ASSERT_TRUE(from.fill(value));
    ASSERT_TRUE(work->launch(stream));
    ASSERT_TRUE(stream.synchronize());
    ASSERT_TRUE(to.download(found));
    EXPECT_EQ(found[0], value);
    EXPECT_EQ(found[999], value);
  }
}

TEST_F(CapturedWorkGpu, WhatFailsWhileItIsRecordedIsDropped) {
  const auto work = CapturedWork::capture(
      device(), [&](const Stream&) { return Status(fail(ErrorCode::not_found, "nothing")); });
  ASSERT_FALSE(work);
  EXPECT_EQ(work.error().code, ErrorCode::not_found);
  EXPECT_TRUE(device().status());
  Stream stream = Stream::create(device()).value();
  EXPECT_TRUE(stream.synchronize());
}

}  // namespace
}  // namespace hoist::device
