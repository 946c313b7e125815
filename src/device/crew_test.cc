#include "device/crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "device/chunks.h"

namespace hoist::device {
namespace {

TEST(Crew, LanesAreNumberedAndTheCallerIsTheFirst) {
  Crew crew(3);
  for (int lanes = 1; lanes <= 6; ++lanes) {
    std::mutex mutex;
    std::set<int> seen;
    const std::thread::id caller = std::this_thread::get_id();
    crew.run(lanes, [&](int lane) {
      const std::lock_guard lock(mutex);
      EXPECT_EQ(lane == 0, std::this_thread::get_id() == caller);
      EXPECT_TRUE(seen.insert(lane).second);
    });
    EXPECT_TRUE(seen.contains(0));
    EXPECT_LT(*seen.rbegin(), lanes);
  }
}

TEST(Crew, HelpersJoinWhoIsStillAtWork) {
  Crew crew(3);
  std::barrier together(4);  // passes only where all four are inside
  crew.run(4, [&](int) { together.arrive_and_wait(); });
}

TEST(Crew, ServesSeveralCallers) {
  Crew crew(2);
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) crew.run(3, [&](int) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_GE(calls, 8 * 200);
  EXPECT_LE(calls, 3 * 8 * 200);
}

TEST(Chunks, CoverEverythingOnce) {
  constexpr size_t kKibibyte = 1024;
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, 256 * kKibibyte, 256 * kKibibyte + 1,
                              uint64_t{3} << 20, (uint64_t{100} << 20) + 12345}) {
    Chunks chunks(size, 256 * kKibibyte, 4096 * kKibibyte, 8);
    uint64_t next = 0;
    while (const std::optional<Chunk> chunk = chunks.take()) {
      EXPECT_EQ(chunk->offset, next);
      EXPECT_EQ(chunk->offset % (64 * kKibibyte), 0u);
      EXPECT_GT(chunk->size, 0u);
      EXPECT_LE(chunk->size, 4096 * kKibibyte);
      next += chunk->size;
    }
    EXPECT_EQ(next, size);
  }
}

TEST(Chunks, AreSmallAtBothEnds) {
  constexpr size_t kSmall = 256 << 10;
  Chunks chunks(uint64_t{1} << 30, kSmall, 4 << 20, 8);
  std::vector<size_t> sizes;
  while (const std::optional<Chunk> chunk = chunks.take()) sizes.push_back(chunk->size);
  EXPECT_EQ(sizes.front(), kSmall);
  EXPECT_EQ(sizes[sizes.size() / 2], size_t{4} << 20);
  EXPECT_EQ(sizes.back(), kSmall);
}

TEST(Chunks, OfOneSizeStayOfOneSize) {
  Chunks chunks(10, 3, 3, 2);
  std::vector<size_t> sizes;
  while (const std::optional<Chunk> chunk = chunks.take()) sizes.push_back(chunk->size);
  EXPECT_EQ(sizes, (std::vector<size_t>{3, 3, 3, 1}));
  Chunks stopped(10, 3, 3, 2);
  EXPECT_TRUE(stopped.take());
  stopped.stop();
  EXPECT_FALSE(stopped.take());
}

}  // namespace
}  // namespace hoist::device
