// Kills, full disks and many threads.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <set>
#include <thread>

#include "match/index/index_testing.h"

namespace hoist::match {
namespace {

Events events_of(uint32_t n) { return {{"n", std::to_string(n)}, {"x" + std::to_string(n % 7)}}; }

// Learns pattern n, and sometimes the one before again. Every tenth is removed again.
bool step(Index& index, uint32_t n) {
  if (!index.learn(events_of(n))) return false;
  if (n % 10 == 9 && !index.remove(name_of(events_of(n)))) return false;
  return n % 50 != 22 || index.learn(events_of(n - 1));
}

constexpr int kAcknowledgements = 3;  // a descriptor

// What a child process does, which is this program with another filter (the threads of RocksDB do
// not live on in a forked process). It writes each number to a pipe once that is acknowledged, and
// syncs all the while.
TEST(CrashChild, DISABLED_LearnsUntilItFails) {
  auto index =
      Index::open(std::getenv("HOIST_CRASH_INDEX"), {.recent_patterns = 10, .sync_patterns = 40});
  ASSERT_TRUE(index) << index.error().message;
  const auto limit = static_cast<rlim_t>(std::atoll(std::getenv("HOIST_CRASH_LIMIT")));
  if (limit != 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit size = {limit, limit};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &size), 0);
  }
  std::atomic<bool> stop = false;
  std::thread syncs([&] {
    while (!stop && (*index)->sync()) ::usleep(3000);
  });
  for (uint32_t n = static_cast<uint32_t>(std::atoi(std::getenv("HOIST_CRASH_FIRST")));
       step(**index, n); ++n) {
    if (::write(kAcknowledgements, &n, sizeof n) != sizeof n) break;
  }
  stop = true;
  syncs.join();
}

class CrashTest : public IndexFolderTest {
 protected:
  // Runs the child from pattern `next_` on, kills it once it has acknowledged `until`, and leaves
  // behind `next_` what it acknowledged last. With `limit`, no file grows beyond that.
  void run_child(uint32_t until, rlim_t limit) {
    int pipe[2];
    ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    const std::string first = std::to_string(next_);
    const std::string largest = std::to_string(limit);
    const pid_t child = start_child("CrashChild.*", [&] {
      ::setenv("HOIST_CRASH_INDEX", path().c_str(), 1);
      ::setenv("HOIST_CRASH_FIRST", first.c_str(), 1);
      ::setenv("HOIST_CRASH_LIMIT", largest.c_str(), 1);
      ::dup2(pipe[1], kAcknowledgements);
    });
    ASSERT_GT(child, 0);
    ::close(pipe[1]);
    uint32_t n = 0;
    acknowledged_ = next_ == 0 ? 0 : next_ - 1;
    while (::read(pipe[0], &n, sizeof n) == sizeof n) {
      acknowledged_ = n;
      if (n >= until) ::kill(child, SIGKILL);
    }
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ASSERT_TRUE(limit != 0 ? ended : WIFSIGNALED(status) != 0) << status;
  }

  // Everything up to the last acknowledged number is as it must be.
  void check() {
    auto index = Index::open(path(), {});
    ASSERT_TRUE(index) << index.error().message;
    const auto verified = (*index)->verify();
    ASSERT_TRUE(verified) << verified.error().message;
    const auto all = (*index)->search({{"n"}}, {.threshold = 0});
    ASSERT_TRUE(all);
    std::set<std::string> names;
    for (const IndexHit& hit : all->hits) names.insert(all->name(hit));
    ASSERT_EQ(names.size(), (*index)->stats().patterns);
    for (uint32_t n = 0; n <= acknowledged_; ++n) {
      ASSERT_EQ(names.count(name_of(events_of(n))), n % 10 == 9 ? 0u : 1u) << n;
    }
    next_ = acknowledged_ + 1;
  }

  uint32_t next_ = 0;
  uint32_t acknowledged_ = 0;
};

TEST_F(CrashTest, KillsAtRandomPointsLoseNothingAcknowledged) {
  SKIP_UNDER_THREAD_SANITIZER();
  std::mt19937_64 random(test_seed());
  ASSERT_TRUE(Index::open(path(), {.create = true}));
  for (int round = 0; round < 10 && !HasFatalFailure(); ++round) {
    run_child(next_ + static_cast<uint32_t>(random() % 400), 0);
    if (!HasFatalFailure()) check();
  }
}

// The largest size of a file stands in for a disk that is full.
TEST_F(CrashTest, AFullDiskRefusesAndKeepsWhatWasThere) {
  SKIP_UNDER_THREAD_SANITIZER();
  ASSERT_TRUE(Index::open(path(), {.create = true}));
  for (const rlim_t limit : {30'000u, 120'000u, 400'000u}) {
    run_child(UINT32_MAX, limit);
    if (!HasFatalFailure()) check();
    if (HasFatalFailure()) return;
  }
}

// For ThreadSanitizer, and for what each thread must see.
TEST_F(CrashTest, LearningQueryingSyncingAndRemovingAtOnce) {
  constexpr uint32_t kEach = 600;
  auto index = Index::open(path(), {.create = true, .recent_patterns = 30, .sync_patterns = 100});
  ASSERT_TRUE(index);
  std::atomic<uint32_t> wrong = 0;
  std::atomic<bool> stop = false;
  const auto learn = [&](const std::string& who) {
    for (uint32_t n = 0; n < kEach; ++n) {
      const Events events = {{who, who + std::to_string(n)}, {"x" + std::to_string(n % 5)}};
      if (!(*index)->learn(events, {.emotives = {{"joy", 1.0}}})) ++wrong;
      // Its own write is in its next query, whatever the others do.
      const auto found = (*index)->search(events, {.threshold = 1});
      if (!found || found->hits.size() != 1) ++wrong;
      if (n % 3 == 0 && !(*index)->learn(events)) ++wrong;
      if (n % 7 == 0) {
        if (!(*index)->remove(name_of(events))) ++wrong;
        if (!(*index)->search(events, {.threshold = 1})->hits.empty()) ++wrong;
      }
    }
  };
  const auto query = [&] {
    while (!stop) {
      const Events events = {{"a"}, {"x1"}};
      PatternText state = pattern_of(events);
      if (!(*index)->predict(state)) ++wrong;
      (void)(*index)->stats();
    }
  };
  const auto sync = [&] {
    while (!stop) {
      if (!(*index)->sync()) ++wrong;
    }
  };
  std::thread others[] = {std::thread(query), std::thread(sync)};
  std::thread learners[] = {std::thread(learn, "a"), std::thread(learn, "b")};
  for (std::thread& learner : learners) learner.join();
  stop = true;
  for (std::thread& other : others) other.join();
  EXPECT_EQ(wrong, 0u);
  const uint32_t kept = kEach - (kEach + 6) / 7;
  EXPECT_EQ((*index)->stats().patterns, 2 * kept);
  const auto verified = (*index)->verify();
  EXPECT_TRUE(verified) << verified.error().message;
}

// What comes while a bulk begins, is taken over by the store and ends is in the store too.
TEST_F(CrashTest, BulksWhileOthersLearnAndRemove) {
  constexpr uint32_t kBulks = 40;
  constexpr uint32_t kEach = 60;
  auto index = Index::open(path(), {.create = true, .recent_patterns = 30, .sync_patterns = 100});
  ASSERT_TRUE(index);
  std::atomic<uint32_t> wrong = 0;
  std::atomic<bool> stop = false;
  std::atomic<uint32_t> others = 0;  // patterns
  std::thread learner([&] {
    std::vector<Events> kept;
    for (uint32_t n = 0; !stop; ++n) {
      kept.push_back({{"other", "o" + std::to_string(n)}, {"x" + std::to_string(n % 5)}});
      if (!(*index)->learn(kept.back(), {.metadata = "1"})) ++wrong;
      if (n % 3 == 0 && !(*index)->learn(kept[kept.size() / 2], {.metadata = "1"})) ++wrong;
      if (kept.size() < 8) continue;
      if (!(*index)->remove(name_of(kept.front()))) ++wrong;
      kept.erase(kept.begin());
    }
    for (const Events& events : kept) {
      if (*(*index)->metadata(name_of(events)) != "1") ++wrong;
    }
    others = static_cast<uint32_t>(kept.size());
  });
  for (uint32_t bulk = 0; bulk < kBulks; ++bulk) {
    if (!(*index)->begin_bulk()) ++wrong;
    for (uint32_t n = 0; n < kEach; ++n) {
      const std::string name = std::to_string(bulk * kEach + n);
      if (!(*index)->learn({{"bulk", name}})) ++wrong;
    }
    if (!(*index)->end_bulk()) ++wrong;
  }
  stop = true;
  learner.join();
  EXPECT_EQ(wrong, 0u);
  const uint64_t patterns = kBulks * kEach + others;
  EXPECT_EQ((*index)->stats().patterns, patterns);
  const auto verified = (*index)->verify();
  EXPECT_TRUE(verified) << verified.error().message;
  index->reset();
  std::filesystem::remove(path() + "/snapshot.hoist");
  index = Index::open(path(), {});
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ((*index)->stats().patterns, patterns);
}

// A snapshot has no symbol that the store does not have.
TEST_F(CrashTest, BulksThatNeverEndLeaveAWholeStore) {
  ASSERT_TRUE(Index::open(path(), {.create = true}));
  uint32_t n = 0;
  for (int round = 0; round < 5; ++round) {
    auto index = Index::open(path(), {});
    ASSERT_TRUE(index) << index.error().message;
    ASSERT_TRUE((*index)->learn({{"before", std::to_string(n++)}}));
    ASSERT_TRUE((*index)->begin_bulk());
    std::atomic<bool> is_synced = false;
    std::thread syncs([&] {
      for (int i = 0; i < 3; ++i) EXPECT_TRUE((*index)->sync());
      is_synced = true;
    });
    while (!is_synced) EXPECT_TRUE((*index)->learn({{"bulk", std::to_string(n++)}}));
    syncs.join();
  }
  std::filesystem::remove(path() + "/snapshot.hoist");
  const auto index = Index::open(path(), {});
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_TRUE((*index)->verify());
}

// A search that asks for the best ones while these are being removed finds the next ones.
TEST_F(CrashTest, TheBestAreFoundWhileBetterOnesAreRemoved) {
  constexpr uint32_t kPatterns = 20'000;
  auto index = Index::open("", {});
  ASSERT_TRUE(index);
  std::vector<std::string> names;
  for (uint32_t n = 0; n < kPatterns; ++n) {
    const auto learned = (*index)->learn({{"n"}, {std::to_string(n)}});
    ASSERT_TRUE(learned);
    names.push_back(learned->name);
  }
  ASSERT_TRUE((*index)->sync());
  std::sort(names.begin(), names.end());  // the order of equal scores
  std::atomic<bool> stop = false;
  std::atomic<uint32_t> wrong = 0;
  std::thread remover([&] {
    for (uint32_t n = 0; n + 1 < kPatterns; ++n) {
      if (!(*index)->remove(names[n])) ++wrong;
    }
    stop = true;
  });
  while (!stop) {
    const auto found = (*index)->search({{"n"}}, {.top = 1});
    if (!found || found->hits.size() != 1) ++wrong;
  }
  remover.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CrashTest, SyncDurabilityServesManyThreads) {
  auto index = Index::open(path(), {.create = true, .durability = Durability::sync});
  ASSERT_TRUE(index);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < 30; ++n) {
        EXPECT_TRUE((*index)->learn({{std::to_string(t), std::to_string(n)}}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*(*index)->verify(), (*index)->stats().patterns);
}

}  // namespace
}  // namespace hoist::match
