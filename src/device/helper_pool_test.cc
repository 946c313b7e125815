#include "device/helper_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "device/chunks.h"

namespace hoist::device {
namespace {

TEST(HelperPool, WorkersAreNumberedAndTheCallerIsTheFirst) {
  HelperPool helpers(3);
  for (int workers = 1; workers <= 6; ++workers) {
    std::mutex mutex;
    std::set<int> seen;
    const std::thread::id caller = std::this_thread::get_id();
    helpers.run(workers, [&](int worker) {
      const std::lock_guard lock(mutex);
      EXPECT_EQ(worker == 0, std::this_thread::get_id() == caller);
      EXPECT_TRUE(seen.insert(worker).second);
    });
    EXPECT_TRUE(seen.contains(0));
    EXPECT_LT(*seen.rbegin(), workers);
  }
}

TEST(HelperPool, HelpersJoinWhoIsStillAtWork) {
  HelperPool helpers(3);
  std::barrier together(4);  // passes only where all four are inside
  helpers.run(4, [&](int) { together.arrive_and_wait(); });
}

TEST(HelperPool, HelpersKeepTheirNumbers) {
  HelperPool helpers(3);
  std::array<std::thread::id, 4> first;
  for (int round = 0; round < 20; ++round) {
    std::barrier together(4);
    helpers.run(4, [&](int worker) {
      together.arrive_and_wait();
      std::thread::id& id = first.at(static_cast<size_t>(worker));
      if (round == 0) id = std::this_thread::get_id();
      EXPECT_EQ(id, std::this_thread::get_id());
    });
  }
}

TEST(HelperPool, ServesSeveralCallers) {
  HelperPool helpers(2);
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) helpers.run(3, [&](int) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_GE(calls, 8 * 200);
  EXPECT_LE(calls, 3 * 8 * 200);
}

TEST(Chunks, CoverEverythingOnce) {
  for (const uint64_t size : {0, 1, 9, 10, 11, 30, 1009}) {
    Chunks chunks(size, 10);
    uint64_t next = 0;
    while (const std::optional<Chunk> chunk = chunks.take()) {
      EXPECT_EQ(chunk->offset, next);
      EXPECT_EQ(chunk->size, std::min<uint64_t>(size - next, 10));
      next += chunk->size;
    }
    EXPECT_EQ(next, size);
    EXPECT_FALSE(chunks.take());
  }
}

}  // namespace
}  // namespace hoist::device
