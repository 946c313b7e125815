#include "base/caller_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <cerrno>
#include <thread>

#include "base/call_team.h"
#include "base/own_work.h"

namespace hoist {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSize = 4 * kPage;

struct Pages {
  char* data = static_cast<char*>(
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ~Pages() { ::munmap(data, kSize); }
};

TEST(CallerMemory, UnwatchedMemoryIsNotLookedAt) {
  const CallerMemory memory(false);
  EXPECT_TRUE(memory.readable(nullptr, kSize));
  EXPECT_TRUE(memory.writable(nullptr, kSize));
}

TEST(CallerMemory, FaultsAreFoundWithoutASignal) {
  const Pages pages;
  const CallerMemory memory(true);
  if (!memory.readable(pages.data, kSize)) GTEST_SKIP() << "the kernel cannot populate";
  pages.data[1] = 7;
  EXPECT_TRUE(memory.writable(pages.data + 1, kSize - 1));
  EXPECT_EQ(pages.data[1], 7);
  ASSERT_EQ(::mprotect(pages.data + kPage, kPage, PROT_READ), 0);
  EXPECT_TRUE(memory.readable(pages.data, kSize));
  EXPECT_FALSE(memory.writable(pages.data, kSize));
  EXPECT_TRUE(memory.writable(pages.data, kPage));
  ASSERT_EQ(::mprotect(pages.data + kPage, kPage, PROT_NONE), 0);
  EXPECT_FALSE(memory.readable(pages.data, kSize));
  ASSERT_EQ(::munmap(pages.data + 3 * kPage, kPage), 0);
  EXPECT_FALSE(memory.readable(pages.data + 2 * kPage, 2 * kPage));
}

TEST(CallerMemory, RangesThatTouchDoNotOverlap) {
  const char bytes[8] = {};
  EXPECT_TRUE(overlap(bytes, 5, bytes + 4, 4));
  EXPECT_TRUE(overlap(bytes + 2, 2, bytes, 8));
  EXPECT_FALSE(overlap(bytes, 4, bytes + 4, 4));
  EXPECT_FALSE(overlap(bytes + 4, 4, bytes, 4));
}

TEST(CallTeam, OneCallAtATime) {
  CallTeam first(2);
  ASSERT_NE(first.pool(), nullptr);
  EXPECT_EQ(CallTeam(2).pool(), nullptr);
  EXPECT_EQ(CallTeam(1).pool(), nullptr);
  EXPECT_GE(most_call_threads(), 1);
}

TEST(OwnWork, LeavesNoTrace) {
  sigset_t before;
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  errno = EXDEV;
  const int result = unseen([] {
    errno = 0;
    sigset_t inside;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &inside);
    EXPECT_TRUE(sigismember(&inside, SIGALRM));
    EXPECT_FALSE(sigismember(&inside, SIGSEGV));
    if (errno == 0) throw 1;
    return 1;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(errno, EXDEV);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGALRM), sigismember(&before, SIGALRM));
}

}  // namespace
}  // namespace hoist
