#include "ops/gemm/opened_aside.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <new>
#include <set>
#include <thread>
#include <vector>

namespace hoist::gemm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Thing {
  bool is_usable() const { return usable; }
  std::atomic<bool> usable = true;
};
using Things = OpenedAside<Thing>;

constexpr const char* kOpening = "is being opened";

TEST(OpenedAside, NobodyWaitsWhoNeedNot) {
  Things things;
  std::latch go(1);
  const auto open = [&]() -> Things::Opened {
    go.wait();
    return std::make_shared<Thing>();
  };
  for (const milliseconds wait : {milliseconds(0), milliseconds(5)}) {
    const Things::Opened none = things.get_aside(open, wait, kOpening);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::unavailable);
    EXPECT_EQ(none.error().message, kOpening);
    EXPECT_EQ(things.get(), nullptr);
  }
  go.count_down();
  const Things::Opened opened = things.get_aside(open, seconds(60), kOpening);
  ASSERT_TRUE(opened);
  EXPECT_EQ(things.get(), *opened);
}

TEST(OpenedAside, IsOpenedOnceForAllThreads) {
  Things things;
  std::atomic<int> openings = 0;
  const auto open = [&]() -> Things::Opened {
    ++openings;
    return std::make_shared<Thing>();
  };
  std::vector<std::shared_ptr<Thing>> got(8);
  std::vector<std::thread> threads;
  for (auto& one : got) {
    threads.emplace_back([&] {
      if (auto opened = things.get_aside(open, seconds(60), kOpening)) one = *opened;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(openings, 1);
  EXPECT_EQ(std::set(got.begin(), got.end()).size(), 1u);
  EXPECT_NE(got.front(), nullptr);
  EXPECT_EQ(*things.get_now(open), got.front());
  // What can be used no more is opened again, by either way.
  got.front()->usable = false;
  EXPECT_EQ(things.get(), nullptr);
  EXPECT_NE(*things.get_now(open), got.front());
  things.get()->usable = false;
  EXPECT_TRUE(things.get_aside(open, seconds(60), kOpening));
  EXPECT_EQ(openings, 3);
}

TEST(OpenedAside, AFailureIsRememberedForAMoment) {
  Things things;
  std::atomic<int> attempts = 0;
  const auto fails = [&]() -> Things::Opened {
    ++attempts;
    return fail(ErrorCode::unavailable, "gone (test)");
  };
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    const Things::Opened none = things.get_aside(fails, seconds(60), kOpening);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message, "gone (test)");
  }
  const bool took_long = std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(900);
  EXPECT_LE(attempts, took_long ? 3 : 1);
}

TEST(OpenedAside, WhatIsThrownIsAFailure) {
  Things things;
  const auto throws = []() -> Things::Opened { throw std::bad_alloc(); };
  const Things::Opened none = things.get_aside(throws, seconds(60), kOpening);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "no memory");
}

TEST(OpenedAside, MayGoWhileSomethingIsOpened) {
  std::latch begun(1);
  std::latch go(1);
  std::latch ended(1);
  {
    Things things;
    (void)things.get_aside(
        [&]() -> Things::Opened {
          begun.count_down();
          go.wait();
          ended.count_down();
          return std::make_shared<Thing>();
        },
        {}, kOpening);
    begun.wait();
  }
  go.count_down();
  ended.wait();
}

}  // namespace
}  // namespace hoist::gemm
