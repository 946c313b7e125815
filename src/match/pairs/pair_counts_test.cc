#include "match/pairs/pair_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <random>

#include "base/test_seed.h"
#include "match/oracle/oracle.h"

namespace hoist::match {
namespace {

// Each sequence in the smallest symbols that hold it, as strs of Python have it, or in all.
struct Lists {
  std::vector<std::vector<uint32_t>> sequences;
  std::vector<Sequence> views;
  std::deque<std::vector<uint8_t>> bytes;
  std::deque<std::vector<uint16_t>> halves;
  std::deque<std::vector<uint32_t>> words;

  void add(std::vector<uint32_t> sequence, bool is_wide = false) {
    const auto put = [&]<typename Symbol>(std::deque<std::vector<Symbol>>& all) {
      const auto& stored = all.emplace_back(sequence.begin(), sequence.end());
      views.emplace_back(stored.data(), stored.size());
    };
    uint32_t most = 0;
    for (const uint32_t symbol : sequence) most = std::max(most, symbol);
    if (most < 0x100 && !is_wide) {
      put(bytes);
    } else if (most < 0x10000 && !is_wide) {
      put(halves);
    } else {
      put(words);
    }
    sequences.push_back(std::move(sequence));
  }
  SequenceList view() const { return views; }
};

Lists random_lists(std::mt19937_64& random, size_t count, size_t longest, uint32_t alphabet) {
  Lists lists;
  for (size_t i = 0; i < count; ++i) {
    std::vector<uint32_t> sequence(random() % (longest + 1));
    for (uint32_t& symbol : sequence) {
      symbol = static_cast<uint32_t>(random() % alphabet) * 257u;
    }
    lists.add(std::move(sequence));
  }
  return lists;
}

// Every pair once, and each as the oracle has it, with all kernels.
void expect_exact(PairCount count, const Lists& queries, const Lists& choices, ThreadPool& pool) {
  std::vector<int64_t> expected;
  for (const auto& x : queries.sequences) {
    for (const auto& y : choices.sequences) {
      const size_t exact =
          count == PairCount::lcs ? oracle::lcs_length(x, y) : oracle::levenshtein_distance(x, y);
      expected.push_back(static_cast<int64_t>(exact));
    }
  }
  for (const PairKernels* const kernels : all_pair_kernels()) {
    std::vector<int64_t> found(expected.size(), -1);
    std::mutex mutex;
    size_t given = 0;
    count_pairs(count, queries.view(), choices.view(), pool,
                [&](const PairRun& run) {
                  const std::lock_guard lock(mutex);
                  for (uint32_t i = 0; i < run.counts.size(); ++i) {
                    const size_t query = run.is_query ? run.fixed : run.first + i;
                    const size_t choice = run.is_query ? run.first + i : run.fixed;
                    found[query * choices.sequences.size() + choice] = run.counts[i];
                    ++given;
                  }
                },
                {.kernels = kernels});
    ASSERT_EQ(given, expected.size());
    ASSERT_EQ(found, expected) << kernels->name;
  }
}

class PairCounts : public testing::TestWithParam<PairCount> {
 protected:
  std::mt19937_64 random_{test_seed()};
  ThreadPool one_{1};
};

TEST_P(PairCounts, OfShortSequences) {
  for (const uint32_t alphabet : {1u, 2u, 5u, 300u, 60'000u}) {
    for (const size_t longest : {0, 1, 8, 9, 17, 40, 70}) {
      const Lists queries = random_lists(random_, 20, longest, alphabet);
      const Lists choices = random_lists(random_, 70, 40, alphabet);
      expect_exact(GetParam(), queries, choices, one_);
    }
  }
}

TEST_P(PairCounts, AtEveryLengthOfALane) {
  Lists queries;
  for (const size_t length : {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    for (const uint32_t symbol : {7u, 8u}) queries.add(std::vector<uint32_t>(length, symbol));
  }
  expect_exact(GetParam(), queries, queries, one_);
}

TEST_P(PairCounts, OfLongSequences) {
  for (const uint32_t alphabet : {2u, 26u, 5000u}) {
    const Lists queries = random_lists(random_, 20, 500, alphabet);
    const Lists choices = random_lists(random_, 10, 500, alphabet);
    expect_exact(GetParam(), queries, choices, one_);
  }
}

// Longer than lanes take, and tables that would be too large.
TEST_P(PairCounts, OfVeryLongSequences) {
  Lists queries = random_lists(random_, 2, 5000, 4);
  queries.add(std::vector<uint32_t>(64 * kMaxWords + 1, 3));
  queries.add(std::vector<uint32_t>(64 * kMaxWords, 3));
  std::vector<uint32_t> distinct(1500);
  for (uint32_t i = 0; i < distinct.size(); ++i) distinct[i] = i;
  queries.add(distinct);
  Lists choices = random_lists(random_, 2, 300, 3000);
  choices.add(distinct);
  expect_exact(GetParam(), queries, choices, one_);
}

TEST_P(PairCounts, OfManyWithFewOnSeveralThreads) {
  ThreadPool three(3);
  const Lists many = random_lists(random_, 2500, 12, 6);
  const Lists few = random_lists(random_, 3, 12, 6);
  expect_exact(GetParam(), many, few, three);
  expect_exact(GetParam(), few, many, three);
  expect_exact(GetParam(), few, Lists(), three);
}

// With a limit for any two lengths: what is within it stays exact, and everything beyond it is
// beyond it.
void expect_exact_within(PairCount count, const Lists& queries, const Lists& choices,
                         ThreadPool& pool, std::span<const int64_t> limits) {
  const bool lcs = count == PairCount::lcs;
  std::vector<int64_t> exact_counts;
  for (const auto& x : queries.sequences) {
    for (const auto& y : choices.sequences) {
      exact_counts.push_back(static_cast<int64_t>(lcs ? oracle::lcs_length(x, y)
                                                      : oracle::levenshtein_distance(x, y)));
    }
  }
  for (const int64_t edits : limits) {
    const auto limit = [&](uint32_t x, uint32_t y) {
      return lcs ? (int64_t{x} + y - edits + 1) / 2 : edits;
    };
    size_t given = 0;
    const auto take = [&](const PairRun& run) {
      for (uint32_t i = 0; i < run.counts.size(); ++i) {
        const uint32_t query = run.is_query ? run.fixed : run.first + i;
        const uint32_t choice = run.is_query ? run.first + i : run.fixed;
        const uint32_t x = queries.view()[query].length;
        const uint32_t y = choices.view()[choice].length;
        const int64_t exact = exact_counts[query * choices.sequences.size() + choice];
        const int64_t last = limit(x, y);
        const auto is_beyond = [&](int64_t count) { return lcs ? count < last : count > last; };
        const int64_t count = run.counts[i];
        ++given;
        if (is_beyond(exact)) {
          ASSERT_TRUE(is_beyond(count)) << count << " limit " << last << " exact " << exact;
          ASSERT_LE(count, lcs ? std::min(x, y) : std::max(x, y));
        } else {
          ASSERT_EQ(count, exact) << "limit " << last;
        }
      }
    };
    count_pairs(count, queries.view(), choices.view(), pool, take, {.limit = limit});
    ASSERT_EQ(given, exact_counts.size());
  }
}

// `original` with up to so many symbols inserted or taken out.
std::vector<uint32_t> near(std::mt19937_64& random, std::vector<uint32_t> original, size_t most) {
  for (uint64_t edits = random() % (most + 1); edits != 0 && !original.empty(); --edits) {
    const auto at = static_cast<std::ptrdiff_t>(random() % original.size());
    if (random() % 2 == 0) {
      original.erase(original.begin() + at);
    } else {
      original.insert(original.begin() + at, 257);
    }
  }
  return original;
}

TEST_P(PairCounts, AreExactUpToALimit) {
  Lists queries = random_lists(random_, 30, 300, 4);
  for (int i = 0; i < 40; ++i) queries.add(near(random_, queries.sequences[random_() % 10], 11));
  Lists choices = queries;
  choices.add(std::vector<uint32_t>(64 * kMaxWords + 1, 257));  // compared one by one
  choices.add(std::vector<uint32_t>(64 * kMaxWords + 3, 257));
  Lists few;
  few.add(choices.sequences.back());
  few.add(choices.sequences[50]);
  constexpr int64_t kLimits[] = {INT32_MIN, -1, 0, 1, 3, 10, 40, 62, 65, 130, 300, 100'000};
  expect_exact_within(GetParam(), queries, choices, one_, kLimits);
  expect_exact_within(GetParam(), few, choices, one_, kLimits);
}

// Groups that share most symbols within and few among them: first looks decide some pairs, lanes,
// points and bands the others. At lengths about those of words.
TEST_P(PairCounts, AreExactUpToALimitInEveryWay) {
  for (const uint32_t alphabet : {1u, 26u, 4000u}) {
    Lists originals;
    for (const size_t length : {0, 1, 63, 64, 65, 127, 128, 129, 600, 601}) {
      std::vector<uint32_t> sequence(length);
      for (uint32_t& symbol : sequence) symbol = static_cast<uint32_t>(random_() % alphabet) * 257u;
      originals.add(std::move(sequence));
    }
    Lists many;
    for (int i = 0; i < 40; ++i) {
      many.add(near(random_, originals.sequences[random_() % originals.sequences.size()], 70));
    }
    const int64_t any = static_cast<int64_t>(random_() % 200);
    const int64_t limits[] = {0, 2, 5, 12, 31, 32, 63, 64, 127, 128, 255, 256, 1000, any};
    expect_exact_within(GetParam(), many, many, one_, limits);
    expect_exact_within(GetParam(), originals, many, one_, limits);
  }
}

// Few short ones with many, of which a first look at all symbols decides most.
TEST_P(PairCounts, AreExactUpToALimitOfShortSequences) {
  constexpr int64_t kLimits[] = {0, 1, 2, 3, 4, 5, 8, 13};
  for (const uint32_t alphabet : {3u, 26u, 4000u}) {
    const Lists few = random_lists(random_, 5, 66, alphabet);
    Lists many = random_lists(random_, 100, 66, alphabet);
    for (int i = 0; i < 200; ++i) {
      many.add(near(random_, few.sequences[random_() % few.sequences.size()], 9));
    }
    expect_exact_within(GetParam(), few, many, one_, kLimits);
  }
}

// The same symbols in all sizes that hold them, and symbols at the sizes' ends.
TEST_P(PairCounts, OfSymbolsOfAnySize) {
  constexpr uint32_t kEnds[] = {0,      1,       254,     255,      256,      257,
                                0xFFFF, 0x10000, 0x10001, 0x10FFFF, 0x110000, 0x110001};
  constexpr int64_t kLimits[] = {0, 1, 3, 10, 40, 100};
  for (const size_t longest : {20, 150, 700}) {
    Lists queries;
    Lists choices;
    for (int i = 0; i < 30; ++i) {
      const size_t alphabet = 2 + random_() % (std::size(kEnds) - 1);
      std::vector<uint32_t> sequence(random_() % (longest + 1));
      for (uint32_t& symbol : sequence) symbol = kEnds[random_() % alphabet];
      queries.add(sequence, random_() % 2 == 0);
      choices.add(near(random_, sequence, 12), random_() % 2 == 0);
    }
    Lists few;
    for (int i = 0; i < 2; ++i) few.add(queries.sequences[random_() % 30], i == 0);
    expect_exact(GetParam(), queries, choices, one_);
    expect_exact(GetParam(), few, choices, one_);
    expect_exact_within(GetParam(), queries, choices, one_, kLimits);
    expect_exact_within(GetParam(), few, choices, one_, kLimits);
    expect_exact_within(GetParam(), choices, few, one_, kLimits);
  }
}

TEST_P(PairCounts, StopWhereCancelled) {
  const Lists queries = random_lists(random_, 50, 300, 4);
  std::stop_source stopped;
  stopped.request_stop();
  size_t given = 0;
  const auto take = [&](const PairRun& run) { given += run.counts.size(); };
  count_pairs(GetParam(), queries.view(), queries.view(), one_, take,
              {.stop = stopped.get_token()});
  EXPECT_EQ(given, 0u);
}

// Few with many take another way than many with many: at every length of a word.
TEST_P(PairCounts, OfOneOrTwoWithMany) {
  for (const uint32_t alphabet : {2u, 15u, 400u}) {
    const Lists many = random_lists(random_, 270, 40, alphabet);
    for (const size_t length : {0, 1, 63, 64, 65, 127, 128, 129, 449, 512, 513}) {
      Lists few;
      for (size_t i = 0; i <= length % 2; ++i) {
        std::vector<uint32_t> sequence(length);
        for (uint32_t& symbol : sequence) {
          symbol = static_cast<uint32_t>(random_() % alphabet) * 257u;
        }
        few.add(std::move(sequence));
      }
      expect_exact(GetParam(), few, many, one_);
      expect_exact(GetParam(), many, few, one_);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, PairCounts, testing::Values(PairCount::lcs, PairCount::levenshtein),
                         [](const auto& count) {
                           return count.param == PairCount::lcs ? "Lcs" : "Levenshtein";
                         });

}  // namespace
}  // namespace hoist::match
