#include <gtest/gtest.h>

#include <random>

#include "base/test_seed.h"
#include "match/scan/scan_testing.h"

namespace hoist::match {
namespace {

struct Data {
  std::vector<Symbols> patterns;  // in name order
  uint32_t vocabulary = 0;

  Segment build() const { return std::move(*segment_of(patterns, vocabulary)); }
};

Data random_data(std::mt19937_64& random, size_t count, size_t longest, uint32_t vocabulary) {
  return {random_patterns(random, count, longest, vocabulary), vocabulary};
}

// What the oracle counts for each pattern, by its index, and one state.
std::vector<uint64_t> oracle_raws(const Data& data, const SegmentView& segment, Scorer scorer,
                                  const Symbols& state) {
  std::vector<uint64_t> raws;
  for (const uint32_t rank : segment.name_ranks) {
    raws.push_back(oracle_raw(scorer, data.patterns[rank], state));
  }
  return raws;
}

void expect_same(const Data& data, const std::vector<Symbols>& states, Scorer scorer,
                 const std::vector<double>& thresholds, const std::vector<size_t>& tops = {0}) {
  const Segment segment = data.build();
  const SegmentView view = segment.view();
  const std::vector<std::span<const uint32_t>> queries(states.begin(), states.end());
  std::vector<std::vector<uint64_t>> raws;
  for (const Symbols& state : states) raws.push_back(oracle_raws(data, view, scorer, state));
  for (const double threshold : thresholds) {
    for (const size_t top : tops) {
      SearchOptions options = {scorer, threshold, top};
      std::vector<std::vector<Match>> expected;
      for (size_t i = 0; i < states.size(); ++i) {
        expected.push_back(oracle_matches(view, raws[i], states[i].size(), options));
      }
      for (const TileKernels* kernels : all_tile_kernels()) {
        options.kernels = kernels;
        const auto found = search(view, queries, options);
        ASSERT_TRUE(found) << found.error().message;
        ASSERT_EQ(*found, expected)
            << kernels->name << " " << name(scorer) << " " << threshold << " top " << top;
      }
    }
  }
}

constexpr Scorer kScorers[] = {Scorer::kato,        Scorer::lcs,     Scorer::indel,
                               Scorer::levenshtein, Scorer::difflib, Scorer::difflib_autojunk};

TEST(Search, EqualsTheOracle) {
  std::mt19937_64 random(test_seed());
  for (const uint32_t vocabulary : {2u, 9u, 60u, 3000u}) {
    const Data data = random_data(random, 150, 24, vocabulary);
    std::vector<Symbols> states = {{}, data.patterns[3], data.patterns[4]};
    for (const size_t m : {1, 5, 15, 16, 17, 40, 63, 64, 65, 128, 200}) {
      states.push_back(random_symbols(random, m, vocabulary + 2));  // some are in no pattern
    }
    for (const Scorer scorer : kScorers) {
      expect_same(data, states, scorer, {0.0, 0.1, 0.25, 0.5, 2.0 / 3, 1.0, 1.01}, {0, 1, 7});
    }
  }
}

TEST(Search, EqualsTheOracleAtExactTies) {
  std::mt19937_64 random(test_seed());
  const Data data = random_data(random, 200, 20, 6);
  const std::vector<Symbols> states = {random_symbols(random, 12, 6),
                                       random_symbols(random, 20, 6)};
  std::vector<double> thresholds;
  for (int k = 0; k <= 1000; ++k) thresholds.push_back(k / 1000.0);
  expect_same(data, states, Scorer::kato, thresholds);
}

// Long patterns lie as singles; long states take several words.
TEST(Search, EqualsTheOracleOnLongPatterns) {
  std::mt19937_64 random(test_seed());
  Data data;
  data.vocabulary = 300;
  for (const size_t n : {63, 64, 65, 255, 256, 257, 257, 300, 700}) {
    for (int i = 0; i < 3; ++i) data.patterns.push_back(random_symbols(random, n, 300));
  }
  for (int i = 0; i < 50; ++i) data.patterns.push_back(random_symbols(random, 400, 300));
  const std::vector<Symbols> states = {data.patterns[26], random_symbols(random, 64, 300),
                                       random_symbols(random, 300, 500)};
  for (const Scorer scorer : {Scorer::kato, Scorer::levenshtein, Scorer::difflib}) {
    expect_same(data, states, scorer, {0.0, 0.2}, {0, 5});
  }
}

TEST(Search, EqualsTheOracleOnWideSymbols) {
  std::mt19937_64 random(test_seed());
  Data data = random_data(random, 15'000, 15, 200'000);
  const Segment segment = data.build();
  ASSERT_FALSE(segment.view().symbols32.empty());
  std::vector<Symbols> states;
  for (const size_t i : {5, 6, 7}) {
    states.push_back(data.patterns[i]);
    states.back().push_back(199'999);
  }
  expect_same(data, states, Scorer::kato, {0.0, 0.1}, {0, 20});
}

// Ids in a row, and ids that agree in many bits, are hardest on hashes.
TEST(QueryTables, KnowExactlyTheSymbolsOfTheQuery) {
  std::mt19937_64 random(test_seed());
  QueryTables tables;
  for (const uint32_t step : {1u, 2u, 64u, 1024u, 4095u, 4096u, 0u}) {
    for (const uint32_t m : {0u, 1u, 8u, 15u, 16u, 17u, 40u, 64u, 65u, 500u}) {
      Symbols ids;
      for (uint32_t i = 0; i < m; ++i) {
        ids.push_back(step == 0 ? static_cast<uint32_t>(random() % 0xFFFF)
                                : (7 + i * step) % 0xFFFF);
      }
      fill_tables(ids, tables);
      ASSERT_EQ(tables.is_one_word, m <= 64) << step << " " << m;
      // Between 40 and 64 symbols there may be no multiplier, if hardly ever.
      if (m <= 40 || m > 64) {
        ASSERT_EQ(tables.slot_bits != 0, m <= 40) << step << " " << m;
      }
      for (uint32_t id = 0; id < 0xFFFF; ++id) {
        uint64_t mask = 0;
        bool present = false;
        for (uint32_t i = 0; i < m; ++i) {
          if (ids[i] != id) continue;
          present = true;
          mask |= uint64_t{1} << (i % 64);
        }
        if (present) {
          ASSERT_TRUE(tables.may_have(id));
        }
        if (m <= 64) {
          ASSERT_EQ(tables.mask(id), mask);
        }
      }
    }
  }
}

TEST(Search, KeepsOrderWithoutNameRanks) {
  std::mt19937_64 random(test_seed());
  const Data data = random_data(random, 500, 3, 2);
  const Segment segment = data.build();
  SegmentView view = segment.view();
  view.name_ranks = {};
  const Symbols state = {0, 1};
  const std::vector<std::span<const uint32_t>> queries = {state};
  const auto found = search(view, queries, {Scorer::kato, 0.0, 400});
  ASSERT_TRUE(found);
  for (size_t i = 1; i < found->front().size(); ++i) {
    const Match& x = found->front()[i - 1];
    const Match& y = found->front()[i];
    ASSERT_TRUE(x.normalized > y.normalized ||
                (x.normalized == y.normalized && x.pattern < y.pattern));
  }
}

TEST(Search, StopsWhereItMust) {
  std::mt19937_64 random(test_seed());
  const Data data = random_data(random, 1000, 10, 5);
  const Segment segment = data.build();
  const Symbols state = {1, 2, 3};
  const Symbols too_long(65'536);
  const auto code = [&](const Symbols& query, const SearchOptions& options) {
    const std::vector<std::span<const uint32_t>> queries = {query};
    const auto found = search(segment.view(), queries, options);
    return found ? ErrorCode::internal : found.error().code;
  };
  std::stop_source stopped;
  stopped.request_stop();
  SearchOptions options;
  options.stop = stopped.get_token();
  EXPECT_EQ(code(state, options), ErrorCode::cancelled);
  options = {};
  options.max_matches = 999;
  EXPECT_EQ(code(state, options), ErrorCode::exhausted);
  options.top = 10;  // keeps few
  EXPECT_EQ(code(state, options), ErrorCode::internal);
  EXPECT_EQ(code(too_long, {}), ErrorCode::invalid_argument);
}

TEST(Search, FindsPatternsByTheirFirstSymbol) {
  std::mt19937_64 random(test_seed());
  const Data data = random_data(random, 700, 9, 4);
  const Segment segment = data.build();
  const SegmentView view = segment.view();
  for (uint32_t symbol = 0; symbol < 5; ++symbol) {
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < view.pattern_count(); ++i) {
      const Symbols& pattern = data.patterns[view.name_ranks[i]];
      if (!pattern.empty() && pattern.front() == symbol) expected.push_back(i);
    }
    EXPECT_EQ(patterns_that_begin_with(view, symbol), expected);
  }
}

}  // namespace
}  // namespace hoist::match
