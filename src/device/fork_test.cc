// What a process has of devices, in its child after fork().
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "base/fork_testing.h"
#include "device/buffer.h"
#include "device/device.h"
#include "device/helper_pool.h"
#include "device/pinned_pool.h"

namespace hoist::device {
namespace {

bool is_refused(const Status& status) {
  return !status && status.error().code == ErrorCode::unavailable;
}

// Work that the parent's threads have begun is never done in the child.
TEST(DeviceFork, StreamsAndEventsAreLeftToTheParent) {
  std::optional<Stream> stream = Stream::create(cpu_device()).value();
  std::optional<Event> event = Event::create(cpu_device()).value();
  std::atomic<bool> go_on = false;
  ASSERT_TRUE(stream->call([&] {
    while (!go_on) std::this_thread::yield();
  }));
  ASSERT_TRUE(event->record(*stream));
  EXPECT_TRUE(in_child([&] {
    char bytes[4] = {};
    const bool is_right = is_refused(stream->synchronize()) && is_refused(event->synchronize()) &&
                          is_refused(stream->copy(bytes, "abc", 4)) &&
                          is_refused(event->record(*stream)) && !event->is_done() &&
                          cpu_device().copy(bytes, "abc", 4, {}) && bytes[2] == 'c';
    event.reset();
    stream.reset();
    return is_right;
  }));
  go_on = true;
  EXPECT_TRUE(event->synchronize());
}

TEST(DeviceFork, AHelperPoolHasNoHelpersInAChild) {
  std::optional<HelperPool> helpers(std::in_place, 3);
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) helpers->run(4, [](int) {});
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(in_child([&] {
      int workers = 0;
      helpers->run(4, [&](int) { ++workers; });
      helpers.reset();
      return workers == 1;
    }));
  }
  stop = true;
  other.join();
}

TEST(DeviceFork, PinnedBlocksAreLeftToTheParent) {
  std::optional<PinnedPool> pool(std::in_place, cpu_device());
  std::optional<PinnedBlock> block = pool->allocate(5000).value();
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) ASSERT_TRUE(pool->allocate(9000));
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(in_child([&] {
      block.reset();
      const auto more = pool->allocate(5000);
      pool->trim();
      pool.reset();
      return !more && more.error().code == ErrorCode::unavailable;
    }));
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace hoist::device
