// Copies by several threads against the C library's memmove(), which is the oracle.
#include "ops/memcpy/memcpy.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "ops/memcpy/copy.h"

namespace hoist::memcpy {
namespace {

constexpr size_t kMany = size_t{9} << 20;  // several chunks, and a part of one
constexpr std::byte kUntouched{0xee};

std::vector<std::byte> random_bytes(std::mt19937_64& random, size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(random() >> 40);
  return bytes;
}

class CopyTest : public ::testing::Test {
 protected:
  CopyTest() : seed_(std::random_device{}()), trace_(__FILE__, __LINE__, seed_), random_(seed_) {}

  // Copies with such distances from a page's start, and looks at the bytes around the target, too.
  template <typename Copy>
  void expect_copied(size_t size, size_t to_offset, size_t from_offset, Copy&& copy) {
    const std::vector<std::byte> source = random_bytes(random_, size + from_offset + 1);
    std::vector<std::byte> target(size + to_offset + 100, kUntouched);
    std::vector<std::byte> expected = target;
    std::memmove(expected.data() + to_offset, source.data() + from_offset, size);
    copy(target.data() + to_offset, source.data() + from_offset, size);
    EXPECT_TRUE(target == expected) << size << " bytes, " << to_offset << " from " << from_offset;
  }

  const uint64_t seed_;
  ::testing::ScopedTrace trace_;
  std::mt19937_64 random_;
};

TEST_F(CopyTest, AloneEverySizeAndAlignment) {
  for (const size_t size : {0, 1, 15, 63, 64, 65, 127, 128, 129, 1000, 4096, 100001}) {
    for (const size_t to : {0, 1, 16, 33, 63}) {
      for (const size_t from : {0, 1, 31}) expect_copied(size, to, from, copy_alone);
    }
  }
}

TEST_F(CopyTest, ThreadsAroundEveryChunk) {
  ThreadPool pool(3);
  constexpr size_t kChunk = size_t{2} << 20;
  for (const size_t size : {size_t{0}, size_t{1}, kChunk - 1, kChunk, kChunk + 1, 3 * kChunk + 7}) {
    expect_copied(size, random_() % 100, random_() % 100,
                  [&](auto* to, const auto* from, size_t bytes) { copy(to, from, bytes, pool); });
  }
}

TEST_F(CopyTest, TouchingChangesNothing) {
  const std::vector<std::byte> source = random_bytes(random_, 30000);
  std::vector<std::byte> target = random_bytes(random_, 30000);
  const std::vector<std::byte> before = target;
  touch(target.data(), source.data(), source.size());
  EXPECT_TRUE(target == before);
}

// Whether the engine copied: it does so where it has threads.
bool copied(std::vector<std::byte>& to, const std::vector<std::byte>& from) {
  const bool done = hoist_memcpy(to.data(), from.data(), from.size());
  EXPECT_TRUE(!done || to == from);
  return done;
}

TEST_F(CopyTest, EngineCopies) {
  const std::vector<std::byte> source = random_bytes(random_, kMany);
  std::vector<std::byte> target(kMany);
  errno = EXDEV;
  copied(target, source);
  EXPECT_EQ(errno, EXDEV);
}

TEST_F(CopyTest, EngineLeavesOverlaps) {
  std::vector<std::byte> bytes = random_bytes(random_, kMany);
  const std::vector<std::byte> before = bytes;
  EXPECT_FALSE(hoist_memcpy(bytes.data() + 1, bytes.data(), kMany - 1));
  EXPECT_FALSE(hoist_memcpy(bytes.data(), bytes.data(), kMany));
  EXPECT_TRUE(bytes == before);
}

TEST_F(CopyTest, CallsAtOnce) {
  const std::vector<std::byte> source = random_bytes(random_, kMany);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      std::vector<std::byte> target(kMany);
      for (int round = 0; round < 3; ++round) copied(target, source);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CopyTest, InAChildAfterFork) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no threads after fork";
#endif
  const std::vector<std::byte> source = random_bytes(random_, kMany);
  std::vector<std::byte> target(kMany);
  copied(target, source);
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<std::byte> mine(kMany);
    ::_exit(!copied(mine, source) || mine == source ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

sigjmp_buf out;
pthread_t fault_thread;

TEST_F(CopyTest, FaultsAreTheCallersOwn) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's handlers come first";
#endif
  constexpr size_t kPage = 4096;
  auto* const target = static_cast<std::byte*>(
      ::mmap(nullptr, kMany, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(target, MAP_FAILED);
  const std::vector<std::byte> source = random_bytes(random_, kMany);
  ::mprotect(target + kMany / 2 / kPage * kPage, kPage, PROT_NONE);
  struct sigaction leave = {};
  leave.sa_handler = [](int) {
    fault_thread = ::pthread_self();
    siglongjmp(out, 1);
  };
  struct sigaction before;
  ASSERT_EQ(::sigaction(SIGSEGV, &leave, &before), 0);
  const auto copy_as_programs_do = [&] {
    if (!hoist_memcpy(target, source.data(), kMany)) std::memmove(target, source.data(), kMany);
  };
  if (sigsetjmp(out, 1) == 0) {
    copy_as_programs_do();
    ADD_FAILURE() << "no fault";
  }
  EXPECT_TRUE(::pthread_equal(fault_thread, ::pthread_self()));
  // Where the handler mends it, the copy goes on.
  leave.sa_handler = nullptr;
  leave.sa_flags = SA_SIGINFO;
  leave.sa_sigaction = [](int, siginfo_t* info, void*) {
    fault_thread = ::pthread_self();
    const auto page = reinterpret_cast<uintptr_t>(info->si_addr) & ~(kPage - 1);
    ::mprotect(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_WRITE);
  };
  ::sigaction(SIGSEGV, &leave, nullptr);
  copy_as_programs_do();
  EXPECT_EQ(std::memcmp(target, source.data(), kMany), 0);
  EXPECT_TRUE(::pthread_equal(fault_thread, ::pthread_self()));
  ::sigaction(SIGSEGV, &before, nullptr);
  ::munmap(target, kMany);
}

}  // namespace
}  // namespace hoist::memcpy
