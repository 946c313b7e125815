#include "match/store/ledger.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hoist::match {
namespace {

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    char name[] = "/tmp/hoist-ledger-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~LedgerTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/ledger"; }
  std::string bytes() const { return read_file(path(), 1 << 20).value(); }

  std::string folder_;
};

TEST_F(LedgerTest, KeepsWhatItWasTold) {
  const auto ledger = Ledger::create(path(), LedgerState());
  ASSERT_TRUE(ledger);
  EXPECT_FALSE(Ledger::create(path(), LedgerState()));
  const ChainPoint first{7, 11, 5, 1};
  const ChainPoint second{8, 12, 6, 1};
  ASSERT_TRUE((*ledger)->acknowledge(first));
  ASSERT_TRUE((*ledger)->flushed(first));
  ASSERT_TRUE((*ledger)->acknowledge(second));
  ASSERT_TRUE((*ledger)->flushed({3, 0, 0, 0}));  // older: nothing new
  const auto again = Ledger::open(path(), true);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->state(), (*ledger)->state());
  EXPECT_EQ((*again)->state().acknowledged, second);
  EXPECT_EQ((*again)->state().flushed, first);
}

// After a power cut only what was flushed is asked for.
TEST_F(LedgerTest, AnotherBootAsksForWhatWasFlushed) {
  LedgerState state;
  state.acknowledged = {8, 12, 6, 1};
  state.flushed = {7, 11, 5, 1};
  const auto ledger = Ledger::create(path(), state);
  ASSERT_TRUE(ledger);
  LedgerState now = (*ledger)->state();
  if (now.boot != 0) {
    EXPECT_EQ(now.required(), state.acknowledged);
  }
  ++now.boot;
  EXPECT_EQ(now.required(), state.flushed);
  now.boot = 0;
  EXPECT_EQ(now.required(), state.flushed);
}

// A damaged slot leaves the state before the last write at least.
TEST_F(LedgerTest, EveryByteMayBeDamaged) {
  {
    const auto ledger = Ledger::create(path(), LedgerState());
    for (uint64_t n = 1; n <= 5; ++n) ASSERT_TRUE((*ledger)->acknowledge({n, n, n, 0}));
  }
  const std::string good = bytes();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    const auto slots = Ledger::decode(bad);
    ASSERT_TRUE(slots);
    EXPECT_GE(slots->state.acknowledged.writes, 4u) << i;
    EXPECT_EQ(slots->state.acknowledged.digest, slots->state.acknowledged.writes);
  }
  for (size_t size = 0; size < 100; ++size) EXPECT_FALSE(Ledger::decode(good.substr(0, size)));
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << std::string(8192, '\0');
  const auto opened = Ledger::open(path(), false);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace hoist::match
