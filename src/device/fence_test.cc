#include "device/fence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "device/test_devices.h"

namespace hoist::device {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kSize = size_t{4} << 20;

class FenceTest : public OnDevicesWithPool {
 protected:
  void SetUp() override {
    OnDevicesWithPool::SetUp();
    if (IsSkipped()) return;
    Result<Stream> stream = Stream::create(device());
    Result<PinnedBlock> block = pool_->allocate(PinnedPool::kSmallest);
    Result<PinnedBlock> host = pool_->allocate(kSize);
    ASSERT_TRUE(stream && block && host);
    stream_.emplace(std::move(*stream));
    block_ = std::move(*block);
    host_ = std::move(*host);
  }
  uint32_t* word(uint32_t value) const {
    std::memcpy(block_.data(), &value, sizeof value);
    return reinterpret_cast<uint32_t*>(block_.data());
  }
  // What the fence is behind arrives, whatever it waited for before.
  void expect_it_is_behind(Fence& fence, Clock::duration look) {
    for (size_t round = 0; round < 100; ++round) {
      const std::vector<std::byte> sent = random_bytes(kSize / 64 * (round % 64 + 1), round);
      Result<Buffer> buffer = Buffer::copy_of(device(), sent);
      ASSERT_TRUE(buffer);
      std::memset(host_.data(), 0, sent.size());
      ASSERT_TRUE(stream_->copy(host_.data(), buffer->data(), sent.size()));
      ASSERT_TRUE(fence.record(*stream_));
      ASSERT_TRUE(fence.wait(Clock::now() + look));
      ASSERT_EQ(std::memcmp(host_.data(), sent.data(), sent.size()), 0) << round;
    }
  }

  std::optional<Stream> stream_;
  PinnedBlock block_;
  PinnedBlock host_;
};
INSTANTIATE_TEST_SUITE_P(On, FenceTest, kTestDevices, device_name);

TEST_P(FenceTest, IsBehindTheWorkBeforeIt) {
  for (const uint32_t first : {uint32_t{0}, UINT32_MAX - 30}) {  // the numbers go round
    Result<Fence> fence = Fence::create(device(), word(first));
    ASSERT_TRUE(fence);
    expect_it_is_behind(*fence, milliseconds(1));
    expect_it_is_behind(*fence, {});
  }
}

TEST_P(FenceTest, WithoutAWordItIsAnEvent) {
  Result<Fence> fence = Fence::create(device(), nullptr);
  ASSERT_TRUE(fence);
  expect_it_is_behind(*fence, milliseconds(1));
  expect_it_is_behind(*fence, {});
}

TEST_P(FenceTest, NothingRecordedIsDone) {
  Result<Fence> fence = Fence::create(device(), word(3));
  ASSERT_TRUE(fence);
  EXPECT_TRUE(fence->wait(Clock::now() + milliseconds(1)));
}

TEST_P(FenceTest, WaitsAsLongAsItTakes) {
  Result<Fence> fence = Fence::create(device(), word(0));
  ASSERT_TRUE(fence);
  for (const int wait : {1, 100}) {
    std::atomic<bool> ended = false;
    ASSERT_TRUE(stream_->call([&] {
      std::this_thread::sleep_for(milliseconds(wait));
      ended = true;
    }));
    ASSERT_TRUE(fence->record(*stream_));
    ASSERT_TRUE(fence->wait({}));
    EXPECT_TRUE(ended);
  }
}

TEST_P(FenceTest, AWaitCanBeInterrupted) {
  for (uint32_t* const own : {word(0), static_cast<uint32_t*>(nullptr)}) {
    Result<Fence> fence = Fence::create(device(), own);
    ASSERT_TRUE(fence);
    std::atomic<bool> go_on = false;
    ASSERT_TRUE(stream_->call([&] { go_on.wait(false); }));
    ASSERT_TRUE(fence->record(*stream_));
    for (const auto look : {milliseconds(0), milliseconds(1), milliseconds(50)}) {
      int asked = 0;
      EXPECT_EQ(fence->wait_unless(Clock::now() + look, [&] { return ++asked > 3; }), false);
      EXPECT_EQ(asked, 4);
    }
    go_on = true;
    go_on.notify_all();
    EXPECT_EQ(fence->wait_unless({}, [] { return false; }), true);
  }
}

// As a device of another process.
class SilentDevice : public CpuDevice {
 public:
  Status write_value(uint32_t* word, uint32_t value, StreamHandle stream) override {
    return Device::write_value(word, value, stream);
  }
};

TEST(Fence, IsAnEventWhereTheDeviceWritesNoValues) {
  SilentDevice device;
  uint32_t word = 0;
  Result<Stream> stream = Stream::create(device);
  Result<Fence> fence = Fence::create(device, &word);
  ASSERT_TRUE(stream && fence);
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> ended = false;
    ASSERT_TRUE(stream->call([&] {
      std::this_thread::sleep_for(milliseconds(5));
      ended = true;
    }));
    ASSERT_TRUE(fence->record(*stream));
    ASSERT_TRUE(fence->wait({}));
    EXPECT_TRUE(ended);
  }
  EXPECT_EQ(word, 0u);
}

TEST(Fence, ALostDeviceIsNotWaitedForWithoutEnd) {
  for (const int operations : {4, 5, 6}) {  // the event is not recorded, or not asked, or later not
    FailingDevice device(operations);
    // The stream, which ends first, still works on these.
    uint32_t word = 0;
    std::atomic<bool> go_on = false;
    Result<Stream> stream = Stream::create(device);
    Result<Fence> fence = Fence::create(device, &word);
    ASSERT_TRUE(stream && fence);
    ASSERT_TRUE(stream->call([&] { go_on.wait(false); }));
    ASSERT_TRUE(fence->record(*stream));
    // Also while it is looked for without sleeping.
    const Status done = fence->wait(Clock::now() + std::chrono::hours(1));
    EXPECT_FALSE(done);
    EXPECT_TRUE(done || done.error().code == ErrorCode::unavailable);
    EXPECT_FALSE(fence->record(*stream));
    go_on = true;
    go_on.notify_all();
  }
}

}  // namespace
}  // namespace hoist::device
