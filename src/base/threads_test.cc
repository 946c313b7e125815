#include "base/threads.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#ifdef __SANITIZE_THREAD__
// A child starts threads of its own here, as programs do.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

// Allocations of the thread that asks for it, from the one with this number on, fail.
namespace {
constexpr int kNever = -1;
thread_local int allocations_left = kNever;
}  // namespace

[[gnu::noinline]] void* operator new(size_t size) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace hoist {
namespace {

TEST(Threads, LoopRunsEveryIndexOnce) {
  ThreadPool pool(4);
  for (size_t count : {0, 1, 2, 3, 1000}) {
    std::vector<std::atomic<int>> hits(count);
    pool.parallel_for(count, [&](size_t i) { ++hits[i]; });
    for (const std::atomic<int>& hit : hits) EXPECT_EQ(hit, 1);
  }
}

// Short loops one after the other: workers come late, find the next loop or none, and are not
// waited for longer than they are there.
TEST(Threads, ShortLoopsOfSeveralCallersAreWhole) {
  ThreadPool pool(8);
  constexpr size_t kLoops = 4000;
  const auto call = [&] {
    for (size_t i = 0; i < kLoops; ++i) {
      std::vector<int> hits(2 + i % 6);  // plain: a worker that is late would be a race
      pool.parallel_for(hits.size(), [&](size_t k) { ++hits[k]; });
      for (const int hit : hits) ASSERT_EQ(hit, 1);
    }
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) callers.emplace_back(call);
  for (std::thread& caller : callers) caller.join();
}

// As runtimes bind each of their threads, the program's first one too.
TEST(Threads, AThreadThatIsBoundDoesNotSpeakForTheProcess) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const int all = process_cpus();
  EXPECT_EQ(all, usable_cpus());
  std::atomic<bool> done = false;
  std::thread other([&] { done.wait(false); });
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), 1);
  EXPECT_EQ(process_cpus(), all);
  int helpers = 0;
  std::thread([&] {
    run_on_process_cpus();
    helpers = usable_cpus();
  }).join();
  EXPECT_EQ(helpers, all);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  done = true;
  done.notify_all();
  other.join();
}

// Two callers whose bodies wait for each other: a pool that ran one loop at a time would hang.
TEST(Threads, LoopsOfTwoCallersRunAtTheSameTime) {
  ThreadPool pool(3);
  std::atomic<int> inside = 0;
  const auto meet = [&](size_t) {
    ++inside;
    for (int left = 10'000; inside < 4 && left > 0; --left) ::usleep(1000);
    EXPECT_GE(inside, 4);
  };
  std::thread other([&] { pool.parallel_for(2, meet); });
  pool.parallel_for(2, meet);
  other.join();
}

TEST(Threads, OnlyAsManyThreadsStartAsThereIsWorkFor) {
  const auto counted = [] {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return std::distance(begin(all), end(all));
  };
  // One that was joined may be there for a moment more.
  const auto threads = [&] {
    auto last = counted();
    for (int same = 0; same < 5;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const auto now = counted();
      same = now == last ? same + 1 : 0;
      last = now;
    }
    return last;
  };
  const auto before = threads();
  ThreadPool pool(16);
  pool.parallel_for(3, [](size_t) {});
  EXPECT_LE(threads(), before + 2);
  pool.parallel_for(1000, [](size_t) {});
  EXPECT_EQ(threads(), before + 15);
}

TEST(Threads, NestedLoopsAndExceptions) {
  ThreadPool pool(3);
  std::atomic<int> inner{0};
  pool.parallel_for(8, [&](size_t) { pool.parallel_for(8, [&](size_t) { ++inner; }); });
  EXPECT_EQ(inner, 64);
  EXPECT_THROW(pool.parallel_for(100,
                                 [](size_t i) {
                                   if (i == 7) throw std::runtime_error("seven");
                                 }),
               std::runtime_error);
  pool.parallel_for(8, [&](size_t) { ++inner; });
  EXPECT_EQ(inner, 72);
}

#if !defined(__SANITIZE_THREAD__)  // whose runtime takes the child's threads for the parent's
TEST(Threads, PoolIsRebuiltAfterFork) {
  ThreadPool pool(3);
  std::atomic<int> sum{0};
  pool.parallel_for(10, [&](size_t) { ++sum; });
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<int> mine{0};
    pool.parallel_for(10, [&](size_t) { ++mine; });
    ::_exit(mine == 10 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  pool.parallel_for(10, [&](size_t) { ++sum; });
  EXPECT_EQ(sum, 20);
}
#endif

// All of the child's threads find the parent's pool, and make do with one of their own.
TEST(Threads, ThreadsOfAChildRebuildThePoolOnce) {
  ThreadPool pool(3);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr int kCallers = 4;
    std::atomic<int> mine{0};
    std::barrier together(kCallers);
    std::vector<std::thread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        together.arrive_and_wait();
        pool.parallel_for(10, [&](size_t) { ++mine; });
      });
    }
    for (std::thread& caller : callers) caller.join();
    ::_exit(mine == 10 * kCallers ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Wherever memory ends, the loop is done or bad_alloc comes out, and signals are as they were.
TEST(Threads, MemoryThatEndsWhileThreadsStart) {
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
  for (int allocations = 0; allocations < 12; ++allocations) {
    ThreadPool pool(4);
    std::atomic<int> sum{0};
    const std::function<void(size_t)> body = [&](size_t) { ++sum; };
    allocations_left = allocations;
    try {
      pool.parallel_for(10, body);
      allocations_left = kNever;
      EXPECT_EQ(sum, 10);
    } catch (const std::bad_alloc&) {
      allocations_left = kNever;
      EXPECT_EQ(sum, 0);
    }
    sigset_t after;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
    EXPECT_EQ(::sigismember(&after, SIGTERM), ::sigismember(&before, SIGTERM)) << allocations;
    pool.parallel_for(10, body);
    EXPECT_EQ(sum % 10, 0);
  }
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they need address space
TEST(Threads, WorkIsDoneWhereNoThreadCanBeStarted) {
  const pid_t child = ::fork();
  if (child == 0) {
    // Too little address space for another stack stands in for a limit on threads, which root is
    // free of.
    const struct rlimit least = {1, 1};
    ::setrlimit(RLIMIT_AS, &least);
    ThreadPool pool(3);
    int sum = 0;
    pool.parallel_for(10, [&](size_t) { ++sum; });
    ::_exit(sum == 10 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

TEST(Threads, UsableCpusRespectsTheOption) {
  ::setenv("HOIST_THREADS", "1", 1);
  EXPECT_EQ(usable_cpus(), 1);
  ::unsetenv("HOIST_THREADS");
  EXPECT_GE(usable_cpus(), 1);
}

}  // namespace
}  // namespace hoist
