#include "service/session/strand.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hoist::service {
namespace {

TEST(Strand, UsesComeOneAfterTheOther) {
  const auto strand = std::make_shared<Strand>();
  std::vector<int> order;
  Strand::Use first = Strand::try_use(strand);
  ASSERT_NE(first, nullptr);
  strand->go_on();
  EXPECT_EQ(Strand::try_use(strand), nullptr);
  Strand::Use kept;
  Strand::use(strand, [&](Strand::Use use) {
    order.push_back(1);
    kept = std::move(use);
  });
  Strand::use(strand, [&](const Strand::Use&) { order.push_back(2); });
  EXPECT_FALSE(strand->is_idle());
  EXPECT_TRUE(order.empty());
  Strand::Use copy = first;
  first.reset();
  EXPECT_TRUE(order.empty());  // its copy is there
  copy.reset();
  EXPECT_EQ(order, std::vector{1});
  EXPECT_EQ(Strand::try_use(strand), nullptr);
  kept.reset();
  EXPECT_EQ(order, (std::vector{1, 2}));
  EXPECT_TRUE(strand->is_idle());
}

// A thread waits for what is over soon, and not for what goes on.
TEST(Strand, ShortUsesAreWaitedFor) {
  const auto strand = std::make_shared<Strand>();
  for (const bool goes_on : {false, true}) {
    Strand::Use first = Strand::try_use(strand);
    std::atomic<bool> is_back = false;
    bool is_taken = false;
    std::thread other([&] {
      is_taken = Strand::try_use(strand) != nullptr;
      is_back = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(is_back);
    if (goes_on) strand->go_on();
    if (!goes_on) first.reset();
    other.join();
    EXPECT_EQ(is_taken, !goes_on);
    first.reset();
    EXPECT_TRUE(strand->is_idle());
  }
}

// Where nobody uses it, the call is made before use() returns.
TEST(Strand, NobodyWaitsForNothing) {
  const auto strand = std::make_shared<Strand>();
  int called = 0;
  Strand::use(strand, [&](const Strand::Use&) { ++called; });
  Strand::use(strand, [&](const Strand::Use&) { ++called; });
  EXPECT_EQ(called, 2);
}

TEST(Strand, OnlySoManyWait) {
  const auto strand = std::make_shared<Strand>();
  int called = 0;
  const auto count = [&](const Strand::Use&) { ++called; };
  EXPECT_TRUE(Strand::use(strand, count, 0));
  Strand::Use first = Strand::try_use(strand);
  EXPECT_FALSE(Strand::use(strand, count, 0));
  EXPECT_TRUE(Strand::use(strand, count, 2));
  EXPECT_TRUE(Strand::use(strand, count, 2));
  EXPECT_FALSE(Strand::use(strand, count, 2));
  first.reset();
  EXPECT_EQ(called, 3);
}

// Uses that end at once take no stack, however many wait.
TEST(Strand, ManyThatWaitDoNotNest) {
  const auto strand = std::make_shared<Strand>();
  constexpr int kMany = 200'000;
  int called = 0;
  Strand::Use first = Strand::try_use(strand);
  for (int i = 0; i < kMany; ++i) {
    Strand::use(strand, [&, i](const Strand::Use&) { called += i == called ? 1 : 0; });
  }
  first.reset();
  EXPECT_EQ(called, kMany);
}

TEST(Strand, WhoThrowsHoldsNobodyUp) {
  const auto strand = std::make_shared<Strand>();
  bool called = false;
  Strand::Use first = Strand::try_use(strand);
  Strand::use(strand, [](const Strand::Use&) { throw std::runtime_error("wrong"); });
  Strand::use(strand, [&](const Strand::Use&) { called = true; });
  first.reset();
  EXPECT_TRUE(called);
  EXPECT_TRUE(strand->is_idle());
}

// One that waits keeps what the strand is part of, and it goes with the last use.
TEST(Strand, LivesAsLongAsItIsUsed) {
  auto strand = std::make_shared<Strand>();
  const std::weak_ptr<Strand> watched = strand;
  bool called = false;
  Strand::Use first = Strand::try_use(strand);
  Strand::use(strand, [&called, strand](const Strand::Use&) { called = true; });
  strand.reset();
  EXPECT_FALSE(watched.expired());
  first.reset();
  EXPECT_TRUE(called);
  EXPECT_TRUE(watched.expired());
}

TEST(Strand, ThreadsTakeTurns) {
  const auto strand = std::make_shared<Strand>();
  constexpr int kThreads = 4, kEach = 5000;
  std::atomic<int> inside = 0, done = 0;
  int counted = 0;  // by whose turn it is
  bool is_alone = true;
  const auto take_turn = [&](Strand::Use use) {
    if (inside.fetch_add(1) != 0) is_alone = false;
    ++counted;
    inside.fetch_sub(1);
    use.reset();
    ++done;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        Strand::Use use = t % 2 == 0 ? Strand::try_use(strand) : nullptr;
        if (use != nullptr) {
          take_turn(std::move(use));
        } else {
          Strand::use(strand, take_turn);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (done < kThreads * kEach) std::this_thread::yield();
  EXPECT_TRUE(is_alone);
  EXPECT_EQ(counted, kThreads * kEach);
  EXPECT_TRUE(strand->is_idle());
}

}  // namespace
}  // namespace hoist::service
