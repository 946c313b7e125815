#include "match/pairs/pair_counts.h"

#include <gtest/gtest.h>

#include <mutex>
#include <random>

#include "base/test_seed.h"
#include "match/oracle/oracle.h"

namespace hoist::match {
namespace {

struct Lists {
  std::vector<std::vector<uint32_t>> sequences;
  std::vector<uint32_t> symbols;
  std::vector<uint64_t> ends;

  void add(std::vector<uint32_t> sequence) {
    symbols.insert(symbols.end(), sequence.begin(), sequence.end());
    ends.push_back(symbols.size());
    sequences.push_back(std::move(sequence));
  }
  SequenceList view() const { return {symbols, ends}; }
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

// Sequences that differ in a few symbols, and others: what is within the limit stays exact, and
// everything beyond it is beyond it.
TEST_P(PairCounts, AreExactUpToALimit) {
  Lists queries = random_lists(random_, 30, 300, 4);
  for (int i = 0; i < 40; ++i) {
    std::vector<uint32_t> near = queries.sequences[random_() % 10];
    for (uint64_t edits = random_() % 12; edits != 0 && !near.empty(); --edits) {
      const auto at = static_cast<std::ptrdiff_t>(random_() % near.size());
      if (random_() % 2 == 0) {
        near.erase(near.begin() + at);
      } else {
        near.insert(near.begin() + at, 257);
      }
    }
    queries.add(std::move(near));
  }
  Lists choices = queries;
  choices.add(std::vector<uint32_t>(64 * kMaxWords + 1, 257));  // compared one by one
  choices.add(std::vector<uint32_t>(64 * kMaxWords + 3, 257));
  Lists few;
  few.add(choices.sequences.back());
  few.add(choices.sequences[50]);
  const bool lcs = GetParam() == PairCount::lcs;
  const auto exact_counts = [&](const Lists& own) {
    std::vector<std::vector<size_t>> exact;
    for (const auto& x : own.sequences) {
      exact.emplace_back();
      for (const auto& y : choices.sequences) {
        exact.back().push_back(lcs ? oracle::lcs_length(x, y) : oracle::levenshtein_distance(x, y));
      }
    }
    return exact;
  };
  const auto exact_of_queries = exact_counts(queries);
  const auto exact_of_few = exact_counts(few);
  for (const int64_t edits : {-1, 0, 1, 3, 10, 40, 300, 100'000}) {
    const auto limit = [&](uint32_t x, uint32_t y) {
      return lcs ? (int64_t{x} + y - edits + 1) / 2 : edits;
    };
    for (const Lists* const own : {&queries, &few}) {
      size_t given = 0;
      const auto take = [&](const PairRun& run) {
        for (uint32_t i = 0; i < run.counts.size(); ++i) {
          const size_t query = run.is_query ? run.fixed : run.first + i;
          const size_t choice = run.is_query ? run.first + i : run.fixed;
          const auto& x = own->sequences[query];
          const auto& y = choices.sequences[choice];
          const size_t exact = (own == &few ? exact_of_few : exact_of_queries)[query][choice];
          const int64_t last =
              limit(static_cast<uint32_t>(x.size()), static_cast<uint32_t>(y.size()));
          const auto is_beyond = [&](int64_t count) { return lcs ? count < last : count > last; };
          const int64_t count = run.counts[i];
          ++given;
          if (is_beyond(static_cast<int64_t>(exact))) {
            ASSERT_TRUE(is_beyond(count)) << count << " limit " << last << " exact " << exact;
            ASSERT_LE(run.counts[i],
                      lcs ? std::min(x.size(), y.size()) : std::max(x.size(), y.size()));
          } else {
            ASSERT_EQ(run.counts[i], exact) << last;
          }
        }
      };
      count_pairs(GetParam(), own->view(), choices.view(), one_, take, {.limit = limit});
      ASSERT_EQ(given, own->sequences.size() * choices.sequences.size());
    }
  }
}

TEST_P(PairCounts, StopWhereCancelled) {
  const Lists queries = random_lists(random_, 50, 300, 4);
  const std::atomic<bool> cancelled{true};
  size_t given = 0;
  const auto take = [&](const PairRun& run) { given += run.counts.size(); };
  count_pairs(GetParam(), queries.view(), queries.view(), one_, take, {.cancelled = &cancelled});
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
