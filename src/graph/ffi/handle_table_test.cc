#include "graph/ffi/handle_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace hoist::graph::ffi {
namespace {

std::atomic<int> alive = 0;

struct Thing : Object {
  static constexpr Kind kKind = Kind::buffer;
  explicit Thing(int v) : Object(kKind), value(v) { ++alive; }
  ~Thing() override {
    value = -1;
    --alive;
  }
  int value;
};

struct Other : Object {
  static constexpr Kind kKind = Kind::tensor;
  Other() : Object(kKind) {}
};

uint64_t add(HandleTable& table, int value) { return table.add(std::make_unique<Thing>(value)); }

TEST(HandleTableTest, CountsFromOne) {
  HandleTable table;
  EXPECT_EQ(add(table, 10), 1u);
  EXPECT_EQ(add(table, 20), 2u);
  for (const Lifetime lifetime : {Lifetime::pinned, Lifetime::held_by_caller}) {
    EXPECT_EQ(table.find<Thing>(1, lifetime)->value, 10);
    EXPECT_EQ(table.find<Thing>(2, lifetime)->value, 20);
    for (const uint64_t none : {uint64_t{0}, uint64_t{3}, uint64_t{1} << 40, ~uint64_t{0}}) {
      EXPECT_FALSE(table.find<Thing>(none, lifetime)) << none;
    }
    EXPECT_FALSE(table.find<Other>(1, lifetime)) << "of another kind";
  }
}

TEST(HandleTableTest, NoHandleComesBack) {
  HandleTable table;
  std::set<uint64_t> seen;
  for (int i = 0; i < 10000; ++i) {
    const uint64_t handle = add(table, i);
    EXPECT_TRUE(seen.insert(handle).second);
    EXPECT_TRUE(table.remove<Thing>(handle));
    EXPECT_FALSE(table.remove<Thing>(handle));
    EXPECT_FALSE(table.find<Thing>(handle, Lifetime::pinned));
    EXPECT_FALSE(table.find<Thing>(handle, Lifetime::held_by_caller));
  }
  EXPECT_EQ(alive, 0);
}

TEST(HandleTableTest, APinKeepsWhatWasRemoved) {
  HandleTable table;
  const uint64_t handle = add(table, 7);
  {
    const auto pin = table.find<Thing>(handle, Lifetime::pinned);
    EXPECT_FALSE(table.remove<Other>(handle));
    EXPECT_TRUE(table.remove<Thing>(handle));
    EXPECT_EQ(pin->value, 7);
    EXPECT_EQ(alive, 1);
    EXPECT_FALSE(table.find<Thing>(handle, Lifetime::pinned));
  }
  EXPECT_EQ(alive, 0);
}

TEST(HandleTableTest, ClearRemovesAll) {
  HandleTable table;
  for (int i = 0; i < 10000; ++i) add(table, i);
  table.clear();
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(table.find<Thing>(1, Lifetime::pinned));
  EXPECT_NE(add(table, 1), 1u);
  table.clear();
}

TEST(HandleTableTest, ThreadsFindWhatIsThereAndNothingElse) {
  HandleTable table;
  std::atomic<uint64_t> handles[8] = {};
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        for (int i = 0; i < 8; ++i) {
          const auto pin = table.find<Thing>(handles[i], Lifetime::pinned);
          if (pin && pin->value != i) ++wrong;
        }
      }
    });
  }
  std::vector<std::thread> writers;
  for (int t = 0; t < 2; ++t) {
    writers.emplace_back([&, t] {
      for (int round = 0; round < 20000; ++round) {
        const int i = 4 * t + round % 4;
        table.remove<Thing>(handles[i]);
        handles[i] = add(table, i);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(alive, 8);
  table.clear();
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace hoist::graph::ffi
