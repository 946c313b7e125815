#include "ops/aes/lanes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ops/aes/caller_memory.h"

namespace hoist::aes {
namespace {

// As the kernel counts them, and Python.
int threads_of_process() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int i = 0; i < 18; ++i) fields >> field;
  return std::stoi(field);
}

// ThreadSanitizer has a thread of its own, and allows children that are forked none.
#ifdef __SANITIZE_THREAD__
constexpr int kOtherThreads = 2;
constexpr size_t kLanesOfChildren = 1;
#else
constexpr int kOtherThreads = 1;
constexpr size_t kLanesOfChildren = 4;
#endif
// AddressSanitizer takes its locks for threads that start, and not for a fork beside them.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kLanesBesideOthers = 1;
#else
constexpr size_t kLanesBesideOthers = kLanesOfChildren;
#endif

TEST(Lanes, CallsEachOnceAtMost) {
  for (const size_t lanes : {size_t{1}, size_t{2}, size_t{5}, kMaxLanes}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::atomic<int>> calls(lanes);
      std::atomic<size_t> next = 0;
      for_each_lane(lanes, [&](size_t lane) {
        ++calls[lane];
        for (size_t i = next++; i < 100; i = next++) continue;
      });
      EXPECT_EQ(calls[0], 1);
      for (const auto& count : calls) EXPECT_LE(count, 1);
    }
  }
}

// No thread of ours is there when the program forks, nor in the child, which can have its own.
TEST(Lanes, EndBeforeFork) {
  for (int round = 0; round < 50; ++round) {
    for_each_lane(4, [](size_t) {});
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);
      for_each_lane(kLanesOfChildren, [](size_t) {});
      ::_exit(0);
    }
    // A thread that was told to end may not get a CPU at once.
    for (int look = 0; look < 10'000 && threads_of_process() > kOtherThreads; ++look)
      ::usleep(1000);
    EXPECT_LE(threads_of_process(), kOtherThreads);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

// Forks on two threads, in the middle of calls of others.
TEST(Lanes, SurviveForksInTheMiddle) {
  std::atomic<bool> done = false;
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      while (!done) for_each_lane(3, [](size_t) { std::this_thread::yield(); });
    });
  }
  const auto fork_often = [] {
    for (int i = 0; i < 30; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(30);
        for_each_lane(kLanesBesideOthers, [](size_t) {});
        ::_exit(0);
      }
      int status = -1;
      EXPECT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
  };
  std::thread other(fork_often);
  fork_often();
  other.join();
  done = true;
  for (std::thread& caller : callers) caller.join();
}

thread_local bool is_calling_thread = false;
std::atomic<int> signals_here = 0;
std::atomic<int> signals_elsewhere = 0;

// A signal of the process waits until the call has returned, and is never handled by our threads.
TEST(Lanes, SignalsWait) {
  is_calling_thread = true;
  signals_here = signals_elsewhere = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { ++(is_calling_thread ? signals_here : signals_elsewhere); };
  struct sigaction before;
  ::sigaction(SIGUSR1, &action, &before);
  for_each_lane(2, [](size_t lane) {
    if (lane != 0) return;
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(signals_here, 0);
  });
  EXPECT_EQ(signals_here, 1);
  EXPECT_EQ(signals_elsewhere, 0);
  ::sigaction(SIGUSR1, &before, nullptr);
}

// Fresh output gets its pages, whatever its alignment; what is there stays as it is.
TEST(CallerMemory, TouchesFreshPages) {
  constexpr size_t kSize = (3 << 20) + 123;
  void* const memory =
      ::mmap(nullptr, kSize + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const out = static_cast<uint8_t*>(memory) + 77;
  out[kSize / 2] = 42;
  const std::vector<uint8_t> in(kSize, 1);
  touch_pages(in.data(), out, kSize, 3);
  std::vector<unsigned char> present((kSize + 77 + 4095) / 4096);
  ASSERT_EQ(::mincore(memory, kSize + 77, present.data()), 0);
  for (const unsigned char page : present) EXPECT_EQ(page & 1, 1);
  EXPECT_EQ(out[kSize / 2], 42);
  EXPECT_EQ(out[kSize - 1], 0);
  ::munmap(memory, kSize + 4096);
}

// What a program's handler of SIGSEGV mends is mended, on the thread that made the call.
TEST(CallerMemory, FaultsAreTakenByTheCaller) {
  constexpr size_t kSize = 4 << 20;
  static uint8_t* memory;  // a handler sees no captures
  memory =
      static_cast<uint8_t*>(::mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  is_calling_thread = true;
  static std::atomic<int> faults_elsewhere = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    if (!is_calling_thread) ++faults_elsewhere;
    ::mprotect(memory, kSize, PROT_READ | PROT_WRITE);
  };
  struct sigaction before;
  ::sigaction(SIGSEGV, &action, &before);
  const std::vector<uint8_t> in(kSize, 1);
  touch_pages(in.data(), memory, kSize, 2);
  ::sigaction(SIGSEGV, &before, nullptr);
  EXPECT_EQ(faults_elsewhere, 0);
  EXPECT_EQ(memory[kSize - 1], 0);
  ::munmap(memory, kSize);
}

}  // namespace
}  // namespace hoist::aes
