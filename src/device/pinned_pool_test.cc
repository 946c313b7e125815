#include "device/pinned_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

#include "device/test_devices.h"

namespace hoist::device {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

class PinnedPoolTest : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(On, PinnedPoolTest, kTestDevices, device_name);

TEST_P(PinnedPoolTest, BlocksAreUsableAlignedAndApart) {
  PinnedPool pool(device());
  std::vector<PinnedBlock> blocks;
  for (size_t size = 0; size <= 8 * kMebibyte; size = size * 2 + 1) {
    for (int i = 0; i < 3; ++i) {
      Result<PinnedBlock> block = pool.allocate(size);
      ASSERT_TRUE(block) << block.error().message;
      EXPECT_EQ(block->size(), size);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) % PinnedPool::kSmallest, 0u);
      std::fill_n(block->data(), size, static_cast<std::byte>(blocks.size()));
      blocks.push_back(std::move(*block));
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto expected = static_cast<std::byte>(i);
    EXPECT_TRUE(std::all_of(blocks[i].data(), blocks[i].data() + blocks[i].size(),
                            [=](std::byte byte) { return byte == expected; }));
    EXPECT_TRUE(device().properties().kind == DeviceKind::cpu ||
                device().is_pinned(blocks[i].data(), std::max<size_t>(blocks[i].size(), 1)));
  }
  blocks.clear();
  EXPECT_EQ(pool.statistics().in_use, 0u);
  pool.trim();
  EXPECT_EQ(pool.statistics().pinned, 0u);
}

TEST_P(PinnedPoolTest, ReturnedBlocksAreUsedAgain) {
  PinnedPool pool(device());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(pool.allocate(5000));
    ASSERT_TRUE(pool.allocate(3 * kMebibyte));
  }
  EXPECT_EQ(pool.statistics().allocations, 200u);
  EXPECT_EQ(pool.statistics().pins, 2u);
  EXPECT_EQ(pool.statistics().pinned, 2 * kMebibyte + 4 * kMebibyte);
}

TEST_P(PinnedPoolTest, TheLimitHolds) {
  PinnedPool pool(device(), 8 * kMebibyte);
  EXPECT_EQ(pool.allocate(PinnedPool::kLargest + 1).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(pool.allocate(PinnedPool::kLargest).error().code, ErrorCode::exhausted);
  {
    Result<PinnedBlock> one = pool.allocate(4 * kMebibyte);
    Result<PinnedBlock> two = pool.allocate(4 * kMebibyte);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(pool.allocate(1).error().code, ErrorCode::exhausted);
  }
  // What nobody holds gives way to another class.
  EXPECT_TRUE(pool.allocate(8 * kMebibyte));
  EXPECT_TRUE(pool.allocate(1));
}

TEST_P(PinnedPoolTest, BlocksWithWorkOnThemWait) {
  PinnedPool pool(device(), 2 * kMebibyte);
  Result<Stream> stream = Stream::create(device());
  Result<Event> event = Event::create(device());
  Result<PinnedBlock> block = pool.allocate(2 * kMebibyte);
  ASSERT_TRUE(stream && event && block);
  std::promise<void> go;
  ASSERT_TRUE(stream->call([&] { go.get_future().wait(); }));
  ASSERT_TRUE(event->record(*stream));
  block->release_after(std::move(*event));
  EXPECT_EQ(pool.statistics().in_use, 0u);
  EXPECT_EQ(pool.allocate(2 * kMebibyte).error().code, ErrorCode::exhausted);
  go.set_value();
  ASSERT_TRUE(stream->synchronize());
  EXPECT_TRUE(pool.allocate(2 * kMebibyte));
}

TEST_P(PinnedPoolTest, ThreadsShareIt) {
  PinnedPool pool(device(), 64 * kMebibyte);
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937_64 random(static_cast<uint64_t>(seed));
      std::vector<PinnedBlock> held;
      for (int i = 0; i < 500; ++i) {
        Result<PinnedBlock> block = pool.allocate(random() % kMebibyte);
        ASSERT_TRUE(block);
        *block->data() = static_cast<std::byte>(seed);
        held.push_back(std::move(*block));
        if (held.size() > 8) held.erase(held.begin() + static_cast<long>(random() % held.size()));
        for (const PinnedBlock& each : held) {
          ASSERT_EQ(*each.data(), static_cast<std::byte>(seed));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.statistics().in_use, 0u);
}

TEST(PinnedPool, WhatALostDeviceMayUseIsNotHandedOut) {
  FailingDevice device(3);  // pin, event, record
  PinnedPool pool(device, 2 * kMebibyte);
  Result<PinnedBlock> block = pool.allocate(2 * kMebibyte);
  Result<Event> event = Event::create(device);
  ASSERT_TRUE(block && event);
  block->release_after(std::move(*event));
  ASSERT_TRUE(device.pin(nullptr, 0));  // the last operation
  EXPECT_EQ(pool.allocate(2 * kMebibyte).error().code, ErrorCode::exhausted);
  EXPECT_EQ(pool.statistics().quarantined, 2 * kMebibyte);
}

TEST(PinnedPool, WhatIsAbandonedIsNotHandedOut) {
  PinnedPool pool(cpu_device(), 2 * kMebibyte);
  Result<PinnedBlock> block = pool.allocate(2 * kMebibyte);
  ASSERT_TRUE(block);
  block->abandon();
  block->abandon();
  EXPECT_EQ(pool.statistics().in_use, 0u);
  EXPECT_EQ(pool.statistics().quarantined, 2 * kMebibyte);
  pool.trim();
  EXPECT_EQ(pool.allocate(2 * kMebibyte).error().code, ErrorCode::exhausted);
}

// With room for so many pinned bytes.
class SmallDevice : public CpuDevice {
 public:
  explicit SmallDevice(size_t room) : room_(room) {}
  Result<void*> allocate_pinned(size_t size) override {
    if (size > room_) return fail(ErrorCode::exhausted, "no room (test)");
    room_ -= size;
    return CpuDevice::allocate_pinned(size);
  }
  Status free_pinned(void* data, size_t size) override {
    room_ += size;
    return CpuDevice::free_pinned(data, size);
  }

 private:
  size_t room_;
};

TEST(PinnedPool, BlocksOfOtherSizesMakeRoomWhereTheDeviceHasNone) {
  SmallDevice device(8 * kMebibyte);
  PinnedPool pool(device);
  { ASSERT_TRUE(pool.allocate(4 * kMebibyte)); }
  Result<PinnedBlock> block = pool.allocate(8 * kMebibyte);
  ASSERT_TRUE(block) << block.error().message;
  EXPECT_EQ(pool.statistics().pinned, 8 * kMebibyte);
  EXPECT_EQ(pool.allocate(4 * kMebibyte).error().code, ErrorCode::exhausted);
  EXPECT_EQ(pool.statistics().pinned, 8 * kMebibyte);
}

TEST(PinnedPool, ADeviceThatDoesNotPinAnswers) {
  FailingDevice device(0);
  PinnedPool pool(device);
  EXPECT_EQ(pool.allocate(1).error().code, ErrorCode::unavailable);
  EXPECT_EQ(pool.statistics().pinned, 0u);
}

}  // namespace
}  // namespace hoist::device
