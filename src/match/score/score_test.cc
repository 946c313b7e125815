#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/test_seed.h"
#include "match/oracle/oracle.h"
#include "match/score/blocks.h"
#include "match/score/bounded_edits.h"
#include "match/score/edit_distance.h"
#include "match/score/opcodes.h"
#include "match/score/scorer.h"

namespace hoist::match {
namespace {

using oracle::Symbols;

Symbols random_symbols(std::mt19937_64& random, size_t length, uint32_t alphabet) {
  Symbols symbols(length);
  for (uint32_t& symbol : symbols)
    symbol = static_cast<uint32_t>(random() % alphabet) * 0x01000193u;
  return symbols;
}

// Shares long runs with the given one.
Symbols edited(std::mt19937_64& random, Symbols symbols, size_t edits, uint32_t alphabet) {
  for (size_t i = 0; i < edits; ++i) {
    const auto at = static_cast<long>(random() % (symbols.size() + 1));
    const auto symbol = static_cast<uint32_t>(random() % alphabet) * 0x01000193u;
    if (random() % 2 == 0 || symbols.empty()) {
      symbols.insert(symbols.begin() + at, symbol);
    } else {
      symbols.erase(symbols.begin() + at % static_cast<long>(symbols.size()));
    }
  }
  return symbols;
}

Symbols repeated(std::initializer_list<uint32_t> unit, size_t length) {
  Symbols symbols;
  while (symbols.size() < length) symbols.insert(symbols.end(), unit.begin(), unit.end());
  symbols.resize(length);
  return symbols;
}

std::vector<Block> fast_blocks(const Symbols& a, const Symbols& b, bool autojunk,
                               BlockMatcher::Way way = BlockMatcher::Way::fastest) {
  const BlockMatcher matcher(b, autojunk);
  BlockMatcher::Scratch scratch;
  std::vector<Block> blocks;
  EXPECT_TRUE(matcher.find(a, blocks, scratch, {}, way));
  return blocks;
}

void expect_same_blocks(const Symbols& a, const Symbols& b, bool autojunk) {
  std::vector<Block> expected;
  for (const oracle::Block& block : oracle::matching_blocks(a, b, autojunk)) {
    expected.push_back({static_cast<uint32_t>(block.a), static_cast<uint32_t>(block.b),
                        static_cast<uint32_t>(block.size)});
  }
  for (const auto way :
       {BlockMatcher::Way::fastest, BlockMatcher::Way::listed, BlockMatcher::Way::walked}) {
    ASSERT_EQ(fast_blocks(a, b, autojunk, way), expected) << static_cast<int>(way);
  }
  const auto n = static_cast<uint32_t>(a.size());
  const auto m = static_cast<uint32_t>(b.size());
  const std::vector<Opcode> codes = opcodes(expected, n, m);
  const std::vector<oracle::Opcode> expected_codes = oracle::opcodes(a, b, autojunk);
  ASSERT_EQ(codes.size(), expected_codes.size());
  constexpr const char* kTags[] = {"equal", "replace", "delete", "insert"};
  for (size_t i = 0; i < codes.size(); ++i) {
    ASSERT_EQ(kTags[static_cast<size_t>(codes[i].edit)], expected_codes[i].tag);
    ASSERT_EQ(codes[i].a_begin, expected_codes[i].a_begin);
    ASSERT_EQ(codes[i].a_end, expected_codes[i].a_end);
    ASSERT_EQ(codes[i].b_begin, expected_codes[i].b_begin);
    ASSERT_EQ(codes[i].b_end, expected_codes[i].b_end);
  }
  ASSERT_EQ(difflib_ratio(matched_symbols(expected), n + m), oracle::ratio(a, b, autojunk));
}

void expect_same(const Symbols& a, const Symbols& b) {
  const MatchMasks masks(b);
  ASSERT_EQ(lcs_length(masks, a), oracle::lcs_length(a, b)) << a.size() << " " << b.size();
  ASSERT_EQ(levenshtein_distance(masks, a), oracle::levenshtein_distance(a, b))
      << a.size() << " " << b.size();
  expect_same_blocks(a, b, false);
  expect_same_blocks(a, b, true);
}

constexpr size_t kLengths[] = {0, 1, 2, 15, 63, 64, 65, 127, 128, 129, 200};

TEST(Score, EqualsTheOracleOnRandomPairs) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 3000; ++i) {
    const uint32_t alphabet = 1 + static_cast<uint32_t>(random() % (i % 3 == 0 ? 4 : 60));
    const Symbols a = random_symbols(random, random() % 40, alphabet);
    expect_same(a, random() % 2 == 0 ? random_symbols(random, random() % 90, alphabet)
                                     : edited(random, a, random() % 8, alphabet));
  }
}

TEST(Score, EqualsTheOracleAtWordBoundaries) {
  std::mt19937_64 random(test_seed());
  for (const size_t n : kLengths) {
    for (const size_t m : kLengths) {
      for (const uint32_t alphabet : {1u, 2u, 5u, 1000u}) {
        expect_same(random_symbols(random, n, alphabet), random_symbols(random, m, alphabet));
      }
    }
  }
}

TEST(Score, EqualsTheOracleOnRepeatsAndLongRuns) {
  std::mt19937_64 random(test_seed());
  expect_same(repeated({1, 2}, 300), repeated({2, 1}, 299));
  expect_same(repeated({1}, 257), repeated({1}, 200));
  expect_same(repeated({1, 2, 3}, 250), repeated({3, 2, 1}, 250));
  Symbols a;
  Symbols b;
  for (uint32_t i = 0; i < 60; ++i) {  // difflib's cubic case: "s a0 s a1 …", "s b0 s b1 …"
    a.insert(a.end(), {0, 1000 + i});
    b.insert(b.end(), {0, 2000 + i});
  }
  expect_same(a, b);
  const Symbols text = random_symbols(random, 700, 300);
  for (int i = 0; i < 5; ++i) expect_same(text, edited(random, text, 30, 300));
}

// Symbols that are popular in b make matches only where runs reach them.
TEST(Score, FollowsAutojunk) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 60; ++i) {
    const size_t length = 195 + random() % 210;
    Symbols b = random_symbols(random, length, 90);
    for (uint32_t& symbol : b) {
      if (random() % 4 == 0) symbol = static_cast<uint32_t>(random() % 3);
    }
    Symbols a = edited(random, b, random() % 40, 90);
    expect_same_blocks(a, b, true);
    a.resize(a.size() / 3);
    expect_same_blocks(a, b, true);
  }
  Symbols b(4, 7);
  for (uint32_t i = 0; i < 196; ++i) b.push_back(100 + i);
  expect_same_blocks({7, 7, 9}, b, true);
  std::rotate(b.begin(), b.begin() + 4, b.end());
  expect_same_blocks({7, 7, 9}, b, true);
}

size_t lcs_by_rows(const Symbols& a, const Symbols& b) {  // two rows of the oracle's matrix
  std::vector<uint32_t> row(b.size() + 1);
  for (const uint32_t symbol : a) {
    uint32_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const uint32_t above = row[j];
      row[j] = symbol == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

TEST(Score, TakesTheLongestSequences) {
  std::mt19937_64 random(test_seed());
  for (const uint32_t alphabet : {3u, 100'000u}) {
    const Symbols b = random_symbols(random, 4096, alphabet);
    const Symbols a = edited(random, b, 1000, alphabet);
    ASSERT_EQ(lcs_length(MatchMasks(b), a), lcs_by_rows(a, b));
  }
  const Symbols longest = random_symbols(random, 65'535, 40'000);
  const MatchMasks masks(longest);
  EXPECT_EQ(lcs_length(masks, longest), 65'535u);
  EXPECT_EQ(levenshtein_distance(masks, Symbols(longest.begin(), longest.end() - 35)), 35u);
  const std::vector<Block> whole = {{0, 0, 65'535}};
  EXPECT_EQ(fast_blocks(longest, longest, false), whole);
}

// Whatever the sizes of the symbols of either: of their lowest bytes.
void expect_same_in_all_sizes(const Symbols& x, const Symbols& y, uint32_t most) {
  const std::vector<uint8_t> bytes_a(x.begin(), x.end());
  const std::vector<uint8_t> bytes_b(y.begin(), y.end());
  const std::vector<uint16_t> halves_a(bytes_a.begin(), bytes_a.end());
  const std::vector<uint16_t> halves_b(bytes_b.begin(), bytes_b.end());
  const Symbols a(bytes_a.begin(), bytes_a.end());
  const Symbols b(bytes_b.begin(), bytes_b.end());
  const auto expect = [&](const auto& one, const auto& other) {
    ASSERT_EQ(bounded_levenshtein(std::span(one), std::span(other), most),
              bounded_levenshtein(a, b, most));
    ASSERT_EQ(bounded_indels(std::span(one), std::span(other), most), bounded_indels(a, b, most));
  };
  const auto expect_with = [&](const auto& one) {
    expect(one, bytes_b);
    expect(one, halves_b);
    expect(one, b);
  };
  expect_with(bytes_a);
  expect_with(halves_a);
  expect_with(a);
}

TEST(Score, CountsEditsUpToABound) {
  std::mt19937_64 random(test_seed());
  for (int turn = 0; turn < 3000; ++turn) {
    const uint32_t alphabet = turn % 3 == 0 ? 1 : turn % 3 == 1 ? 2 : 20;
    const Symbols a = random_symbols(random, random() % 40, alphabet);
    const Symbols b = turn % 2 == 0 ? edited(random, a, random() % 12, alphabet)
                                    : random_symbols(random, random() % 40, alphabet);
    const auto distance = static_cast<uint32_t>(oracle::levenshtein_distance(a, b));
    const auto indels = static_cast<uint32_t>(a.size() + b.size() - 2 * oracle::lcs_length(a, b));
    for (uint32_t most = 0; most <= 81; most = most < 14 ? most + 1 : most + 67) {
      ASSERT_EQ(bounded_levenshtein(a, b, most), std::min(distance, most + 1));
      ASSERT_EQ(bounded_indels(a, b, most), std::min(indels, most + 1));
      expect_same_in_all_sizes(a, b, most);
    }
  }
  const Symbols a = repeated({1, 2, 3}, 5000);
  Symbols b = edited(random, a, 400, 3);
  for (const uint32_t most : {200u, kMostBoundedEdits}) {
    const auto distance = static_cast<uint32_t>(levenshtein_distance(MatchMasks(a), b));
    EXPECT_EQ(bounded_levenshtein(a, b, most), std::min(distance, most + 1));
  }
}

TEST(Score, StopsWhereCancelled) {
  std::stop_source stopped;
  stopped.request_stop();
  const Symbols longest = repeated({1, 2}, 10'000'000);
  const MatchMasks masks(longest);
  EXPECT_NE(lcs_length(masks, longest, stopped.get_token()),
            longest.size());  // hours, if it went on
  EXPECT_NE(levenshtein_distance(masks, longest, stopped.get_token()), 0u);
  const Symbols a = repeated({1, 2}, 1000);
  const BlockMatcher matcher(a);
  BlockMatcher::Scratch scratch;
  std::vector<Block> blocks;
  EXPECT_FALSE(matcher.find(a, blocks, scratch, stopped.get_token()));
}

TEST(Scorer, RoundsAsTheReferenceDoes) {
  EXPECT_EQ(score_of(Scorer::kato, 1, 2, 1).normalized, 0.6666666666666665);
  EXPECT_EQ(score_of(Scorer::kato, 1, 3, 3).normalized, 0.33333333333333326);
  EXPECT_EQ(score_of(Scorer::kato, 0, 0, 0).normalized, 0.0);
  EXPECT_EQ(score_of(Scorer::lcs, 0, 0, 0).normalized, 1.0);
  EXPECT_EQ(score_of(Scorer::difflib, 0, 0, 0).normalized, 1.0);
  EXPECT_EQ(score_of(Scorer::indel, 2, 3, 4).value, 4.0);
  EXPECT_EQ(score_of(Scorer::levenshtein, 2, 3, 4).value, 2.0);
}

// Rounding through percent decides in one case up to 400 symbols and thresholds k/1000.
TEST(Scorer, FindsTheOneThresholdThatRoundingFlips) {
  int flipped = 0;
  for (uint32_t total = 1; total <= 400; ++total) {
    for (uint32_t lcs = 0; 2 * lcs <= total; ++lcs) {
      for (int k = 0; k <= 1000; ++k) {
        const bool exact = 2000 * lcs >= static_cast<uint32_t>(k) * total;
        if (reaches(Scorer::kato, lcs, lcs, total - lcs, k / 1000.0) != exact) ++flipped;
      }
    }
  }
  EXPECT_EQ(flipped, 1);
}

TEST(Scorer, LeastLcsIsTheFirstThatReaches) {
  for (const Scorer scorer : {Scorer::kato, Scorer::lcs, Scorer::indel, Scorer::levenshtein,
                              Scorer::difflib, Scorer::difflib_autojunk}) {
    EXPECT_EQ(scorer_named(name(scorer)), scorer);
    for (uint32_t n = 0; n <= 40; n += 3) {
      for (uint32_t m = 0; m <= 40; m += 5) {
        for (int k = 0; k <= 1010; k += 5) {
          const double threshold = k / 1000.0;
          std::optional<uint32_t> expected;
          for (uint32_t lcs = std::min(n, m) + 1; lcs-- > 0;) {
            const uint32_t raw = scorer == Scorer::levenshtein ? std::max(n, m) - lcs : lcs;
            if (reaches(scorer, raw, n, m, threshold)) expected = lcs;
          }
          ASSERT_EQ(least_lcs(scorer, n, m, threshold), expected) << name(scorer) << k;
        }
      }
    }
  }
  EXPECT_FALSE(scorer_named("jaro"));
}

TEST(Scorer, EqualsTheOracle) {
  for (size_t n = 0; n < 30; ++n) {
    for (size_t m = 0; m < 30; ++m) {
      for (size_t lcs = 0; lcs <= std::min(n, m); ++lcs) {
        ASSERT_EQ(score_of(Scorer::kato, lcs, n, m).normalized, oracle::kato_similarity(lcs, n, m));
        ASSERT_EQ(score_of(Scorer::lcs, lcs, n, m).normalized, oracle::lcs_similarity(lcs, n, m));
        ASSERT_EQ(score_of(Scorer::indel, lcs, n, m).normalized,
                  oracle::indel_similarity(lcs, n, m));
        const size_t distance = std::max(n, m) - lcs;
        ASSERT_EQ(score_of(Scorer::levenshtein, distance, n, m).normalized,
                  oracle::levenshtein_similarity(distance, n, m));
        for (int k = 0; k <= 1000; k += 10) {
          ASSERT_EQ(reaches(Scorer::kato, lcs, n, m, k / 1000.0),
                    oracle::kato_keeps(lcs, n, m, k / 1000.0));
        }
      }
    }
  }
}

}  // namespace
}  // namespace hoist::match
