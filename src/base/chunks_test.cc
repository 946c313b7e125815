#include "base/chunks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace hoist {
namespace {

constexpr size_t kPerTask[] = {1, 2, 7, 64, 1000};

TEST(ParallelForChunks, CoversEachOnce) {
  ThreadPool pool(4);
  for (const size_t count : {0, 1, 2, 63, 64, 65, 999}) {
    for (const size_t per_task : kPerTask) {
      std::vector<std::atomic<int>> visits(count);
      parallel_for_chunks(pool, count, per_task, [&](size_t begin, size_t end) {
        EXPECT_LT(begin, end);
        EXPECT_LE(end - begin, per_task);
        for (size_t i = begin; i < end; ++i) ++visits.at(i);
      });
      for (const std::atomic<int>& one : visits) ASSERT_EQ(one, 1) << count << " by " << per_task;
    }
  }
}

TEST(ParallelSelect, GivesInOrderWhatIsWanted) {
  ThreadPool pool(4);
  for (const uint32_t count : {0, 1, 63, 64, 65, 999}) {
    for (const size_t per_task : kPerTask) {
      for (const uint32_t every : {1u, 3u, 64u, 5000u}) {
        std::atomic<uint32_t> asked = 0;
        const auto is_wanted = [&](size_t i) {
          ++asked;
          return i % every == every - 1;
        };
        std::vector<uint32_t> expected;
        for (uint32_t i = every - 1; i < count; i += every) expected.push_back(i);
        EXPECT_EQ(parallel_select(pool, count, per_task, is_wanted), expected);
        EXPECT_EQ(asked, count);
      }
    }
  }
}

}  // namespace
}  // namespace hoist
