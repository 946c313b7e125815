#include "device/remote/pool.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/test_seed.h"

namespace hoist::device::remote {
namespace {

constexpr uint64_t kPage = PoolAllocator::kAlignment;

TEST(PoolAllocator, GivesPagesAndTakesThemBack) {
  PoolAllocator pool(4 * kPage);
  const auto a = pool.allocate(1);
  const auto b = pool.allocate(kPage + 1);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(pool.used(), 3 * kPage);
  EXPECT_FALSE(pool.allocate(2 * kPage));
  pool.free(*a);
  EXPECT_FALSE(pool.allocate(3 * kPage));  // free, but not in one piece
  pool.free(*b);
  EXPECT_EQ(pool.used(), 0u);
  EXPECT_EQ(pool.allocate(4 * kPage), 0u);
}

TEST(PoolAllocator, RefusesWhatCannotFit) {
  PoolAllocator pool(4 * kPage);
  EXPECT_FALSE(pool.allocate(UINT64_MAX));
  EXPECT_FALSE(pool.allocate(4 * kPage + 1));
  EXPECT_TRUE(pool.allocate(0));
  EXPECT_FALSE(PoolAllocator(0).allocate(1));
}

TEST(PoolAllocator, ABlockInARequestStaysUntilTheAnswer) {
  PoolAllocator pool(2 * kPage);
  const uint64_t block = *pool.allocate(2 * kPage);
  EXPECT_EQ(pool.retain(block + 10, kPage), block);
  EXPECT_EQ(pool.retain(block, 2 * kPage), block);
  pool.free(block);
  EXPECT_FALSE(pool.retain(block, 1));  // no longer its owner's
  pool.release(block);
  EXPECT_FALSE(pool.allocate(1));
  pool.release(block);
  EXPECT_TRUE(pool.allocate(2 * kPage));
}

TEST(PoolAllocator, RetainsOnlyWithinABlock) {
  PoolAllocator pool(8 * kPage);
  const uint64_t first = *pool.allocate(kPage);
  const uint64_t second = *pool.allocate(kPage);
  EXPECT_FALSE(pool.retain(first, kPage + 1));
  EXPECT_FALSE(pool.retain(second + 1, kPage));
  EXPECT_FALSE(pool.retain(second + kPage + 1, 0));
  EXPECT_FALSE(pool.retain(7 * kPage, 1));
  EXPECT_FALSE(pool.retain(UINT64_MAX, UINT64_MAX));
  EXPECT_TRUE(pool.retain(first, 0));
}

TEST(PoolAllocator, RandomUseNeverOverlaps) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  constexpr uint64_t kPages = 64;
  PoolAllocator pool(kPages * kPage);
  struct Block {
    uint64_t offset, pages, requests;
    bool owned;
  };
  std::vector<Block> blocks;
  std::vector<bool> taken(kPages);
  for (int step = 0; step < 20000; ++step) {
    const size_t i = blocks.empty() ? 0 : random() % blocks.size();
    switch (random() % 4) {
      case 0: {
        const uint64_t pages = 1 + random() % 9;
        const auto offset = pool.allocate(pages * kPage - random() % kPage);
        if (!offset) break;
        for (uint64_t page = *offset / kPage; page < *offset / kPage + pages; ++page) {
          ASSERT_FALSE(taken.at(page));
          taken[page] = true;
        }
        blocks.push_back({*offset, pages, 0, true});
        break;
      }
      case 1:
        if (blocks.empty() || !blocks[i].owned) break;
        pool.free(blocks[i].offset);
        blocks[i].owned = false;
        break;
      case 2:
        if (blocks.empty() || !blocks[i].owned) break;
        ASSERT_EQ(pool.retain(blocks[i].offset + random() % kPage, 1), blocks[i].offset);
        ++blocks[i].requests;
        break;
      default:
        if (blocks.empty() || blocks[i].requests == 0) break;
        pool.release(blocks[i].offset);
        --blocks[i].requests;
    }
    if (!blocks.empty() && !blocks[i].owned && blocks[i].requests == 0) {
      for (uint64_t page = 0; page < blocks[i].pages; ++page) {
        taken[blocks[i].offset / kPage + page] = false;
      }
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(i));
    }
    uint64_t used = 0;
    for (const bool page : taken) used += page ? kPage : 0;
    ASSERT_EQ(pool.used(), used);
  }
}

}  // namespace
}  // namespace hoist::device::remote
