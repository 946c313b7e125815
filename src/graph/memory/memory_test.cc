#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "graph/memory/class_set.h"
#include "graph/memory/linear_pool.h"
#include "graph/memory/slab.h"

namespace hoist::graph {
namespace {

bool is_zero(const std::byte* data, size_t bytes) {
  return std::all_of(data, data + bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

TEST(SlabTest, ClassesAreZeroedAlignedAndApart) {
  const std::shared_ptr<Slab> slab = Slab::create().value();
  for (size_t index = 0; index < kClasses; ++index) {
    std::byte* const data = slab->class_data(index);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    EXPECT_TRUE(is_zero(data, kClassBytes));
    std::memset(data, static_cast<int>(index + 1), kClassBytes);
  }
  for (size_t index = 0; index < kClasses; ++index) {
    for (const size_t offset : {size_t{0}, size_t{1024}, kClassBytes - 1}) {
      EXPECT_EQ(*slab->at(PhiAddress::in_class(index, offset).value()),
                static_cast<std::byte>(index + 1));
    }
  }
}

TEST(ClassSetTest, GivesTheLowestFreeOne) {
  ClassSet classes;
  for (size_t expected = 0; expected < kClasses; ++expected) {
    EXPECT_EQ(classes.take(), static_cast<uint8_t>(expected));
  }
  EXPECT_EQ(classes.take().error().code, ErrorCode::exhausted);
  EXPECT_NE(classes.take().error().message.find("all 96 classes used"), std::string::npos);
  classes.give_back(50);
  classes.give_back(7);
  EXPECT_EQ(classes.taken(), 94u);
  EXPECT_EQ(classes.take(), uint8_t{7});
  EXPECT_EQ(classes.take(), uint8_t{50});
  EXPECT_FALSE(classes.take());
}

TEST(ClassSetTest, NoTwoThreadsGetOne) {
  ClassSet classes;
  std::atomic<int> holders[kClasses] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const Result<uint8_t> index = classes.take();
        ASSERT_TRUE(index);
        ASSERT_EQ(holders[*index].fetch_add(1), 0);
        holders[*index].fetch_sub(1);
        classes.give_back(*index);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(classes.taken(), 0u);
}

TEST(LinearPoolTest, SizeClassesHoldWhatTheyServe) {
  size_t last = 0;
  for (size_t bytes = 1; bytes <= LinearPool::kMostPooled; bytes += 1 + bytes / 97) {
    const size_t size_class = LinearPool::class_of(bytes);
    EXPECT_GE(LinearPool::class_bytes(size_class), bytes);
    EXPECT_LE(LinearPool::class_bytes(size_class), std::max<size_t>(64, bytes + bytes / 4));
    EXPECT_GE(size_class, last);
    last = size_class;
  }
  EXPECT_EQ(LinearPool::class_bytes(LinearPool::class_of(LinearPool::kMostPooled)),
            LinearPool::kMostPooled);
}

TEST(LinearPoolTest, MemoryIsZeroedAndAligned) {
  LinearPool pool;
  for (int round = 0; round < 3; ++round) {
    for (const size_t bytes : {0, 1, 64, 65, 4000, 12288, 1 << 20, (1 << 20) + 1, 5 << 20}) {
      const std::shared_ptr<std::byte> data = pool.allocate(bytes).value();
      ASSERT_NE(data, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data.get()) % LinearPool::kAlignment, 0u);
      EXPECT_TRUE(is_zero(data.get(), bytes));
      std::memset(data.get(), 0xff, bytes);
    }
  }
}

// Whether b begins a page and at most some cache lines behind a.
bool seems_just_behind(const std::byte* a, const std::byte* b) {
  const size_t distance = (reinterpret_cast<uintptr_t>(b) - reinterpret_cast<uintptr_t>(a)) % 4096;
  return distance > 0 && distance < 256;
}

TEST(LinearPoolTest, NoTwoSeemToFollowEachOther) {
  LinearPool pool;
  for (const size_t bytes : {512, 1000, 2000, 4000, 4096, 5000, 40000, 400000}) {
    std::vector<std::shared_ptr<std::byte>> all;
    for (int i = 0; i < 4; ++i) all.push_back(pool.allocate(bytes).value());
    for (const auto& a : all) {
      for (const auto& b : all) EXPECT_FALSE(seems_just_behind(a.get(), b.get())) << bytes;
    }
  }
}

TEST(LinearPoolTest, MemoryComesBack) {
  LinearPool pool;
  std::shared_ptr<std::byte> first = pool.allocate(4000).value();
  const std::byte* const address = first.get();
  const std::shared_ptr<std::byte> kept = first;
  first.reset();
  EXPECT_EQ(pool.idle(), 0u) << "a copy of the pointer holds it";
  EXPECT_NE(pool.allocate(4000).value().get(), address);
  const size_t before = pool.idle();
  EXPECT_GT(before, 0u);
}

TEST(LinearPoolTest, IdleMemoryIsBounded) {
  LinearPool pool;
  std::vector<std::shared_ptr<std::byte>> all;
  for (int i = 0; i < 100; ++i) all.push_back(pool.allocate(LinearPool::kMostPooled).value());
  all.clear();
  EXPECT_EQ(pool.idle(), LinearPool::kMostIdle);
}

TEST(LinearPoolTest, TooMuchIsRefused) {
  LinearPool pool;
  const auto failed = pool.allocate(size_t{1} << 60);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::exhausted);
}

TEST(LinearPoolTest, ThreadsShareIt) {
  LinearPool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 3000; ++i) {
        const size_t bytes = 64 + i % 7 * 1000;
        const std::shared_ptr<std::byte> data = pool.allocate(bytes).value();
        ASSERT_TRUE(is_zero(data.get(), bytes));
        std::memset(data.get(), t + 1, bytes);
        ASSERT_EQ(data.get()[bytes - 1], static_cast<std::byte>(t + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LinearPoolTest, AChildGoesOn) {
  LinearPool pool;
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) (void)pool.allocate(1000);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int k = 0; k < 10; ++k) {
        if (!pool.allocate(1000)) ::_exit(1);
      }
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace hoist::graph
