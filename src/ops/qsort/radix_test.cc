#include "ops/qsort/radix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hoist::qsort {
namespace {

template <typename Word>
void expect_sorted(std::vector<Word> words, ThreadPool* pool) {
  std::vector<Word> expected = words;
  std::sort(expected.begin(), expected.end());
  std::vector<Word> scratch(words.size());
  radix_sort(words.data(), scratch.data(), words.size(), 0, pool);
  EXPECT_TRUE(words == expected) << words.size() << " words";
}

template <typename Word>
void sort_distributions(std::mt19937_64& random, size_t count, ThreadPool* pool) {
  std::vector<Word> words(count);
  for (int width = 0; width <= static_cast<int>(8 * sizeof(Word)); width += 5) {
    for (Word& word : words) word = width == 0 ? 7 : static_cast<Word>(random() >> (64 - width));
    expect_sorted(words, pool);
  }
  // Clusters far apart, so that most of the range's bits say nothing.
  for (Word& word : words) {
    word = static_cast<Word>(random() % 3 == 0 ? ~random() % 100 : ~Word{0} - random() % 5000);
  }
  expect_sorted(words, pool);
  for (size_t i = 0; i < count; ++i)
    words[i] = static_cast<Word>(Word{1} << (i % (8 * sizeof(Word))));
  expect_sorted(words, pool);
}

TEST(RadixTest, SortsEveryDistribution) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  ThreadPool three(3);
  for (const size_t count : {0, 1, 2, 24, 25, 255, 256, 257, 3000, 65535, 65536, 200001}) {
    for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &three}) {
      sort_distributions<uint32_t>(random, count, pool);
      sort_distributions<uint64_t>(random, count, pool);
    }
  }
}

TEST(RadixTest, LeavesAscendingBitsInOrder) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  ThreadPool two(2);
  for (const size_t count : {2, 100, 1000, 70000}) {
    for (const uint64_t values : {1, 3, 1000, 1 << 30}) {
      constexpr int kIndexBits = 17;
      std::vector<uint64_t> words(count);
      for (size_t i = 0; i < count; ++i) words[i] = (random() % values) << kIndexBits | i;
      std::vector<uint64_t> expected = words;
      std::sort(expected.begin(), expected.end());
      std::vector<uint64_t> scratch(count);
      radix_sort(words.data(), scratch.data(), count, kIndexBits, &two);
      EXPECT_TRUE(words == expected) << count << " words of " << values << " values";
    }
  }
}

}  // namespace
}  // namespace hoist::qsort
