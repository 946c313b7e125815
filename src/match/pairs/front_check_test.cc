#include "match/pairs/front_check.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "base/test_seed.h"
#include "match/oracle/oracle.h"

namespace hoist::match {
namespace {

using Symbols = std::vector<uint32_t>;

Symbols random_symbols(std::mt19937_64& random, size_t length, uint32_t alphabet) {
  Symbols out(length);
  for (uint32_t& symbol : out) symbol = static_cast<uint32_t>(random() % alphabet);
  return out;
}

// With so many insertions, deletions and substitutions, mostly far from each other.
Symbols edited(std::mt19937_64& random, Symbols symbols, uint64_t edits, uint32_t alphabet) {
  for (; edits != 0; --edits) {
    const auto at = static_cast<std::ptrdiff_t>(random() % (symbols.size() + 1));
    const auto symbol = static_cast<uint32_t>(random() % alphabet);
    const bool is_end = static_cast<size_t>(at) == symbols.size();
    if (is_end || random() % 3 == 0) {
      symbols.insert(symbols.begin() + at, symbol);
    } else if (random() % 2 == 0) {
      symbols.erase(symbols.begin() + at);
    } else {
      symbols[static_cast<size_t>(at)] = symbol;
    }
  }
  return symbols;
}

class Fronts : public testing::TestWithParam<PairCount> {
 protected:
  uint64_t edits(const Symbols& a, const Symbols& b) const {
    if (GetParam() == PairCount::levenshtein) return oracle::levenshtein_distance(a, b);
    return a.size() + b.size() - 2 * oracle::lcs_length(a, b);
  }

  // In symbols of any size that holds them, where they stay.
  Sequence stored(const Symbols& symbols) {
    uint32_t most = 0;
    for (const uint32_t symbol : symbols) most = std::max(most, symbol);
    const auto put = [&](auto& all) -> Sequence {
      const auto& one = all.emplace_back(symbols.begin(), symbols.end());
      return {one.data(), one.size()};
    };
    const uint64_t size = random_() % 3;
    if (size == 0 && most < 0x100) return put(bytes_);
    if (size <= 1 && most < 0x10000) return put(halves_);
    return put(words_);
  }

  std::mt19937_64 random_{test_seed()};
  std::deque<std::vector<uint8_t>> bytes_;
  std::deque<std::vector<uint16_t>> halves_;
  std::deque<Symbols> words_;
};

TEST_P(Fronts, AreBeyondOnlyWhereThereAreMoreEdits) {
  size_t shown = 0;
  std::deque<FrontCheck> checks;
  for (const PairKernels* const kernels : all_pair_kernels()) checks.emplace_back(*kernels);
  for (int turn = 0; turn < 600; ++turn) {
    const uint32_t alphabet = turn % 3 == 0 ? 4 : turn % 3 == 1 ? 26 : 100'000;
    const Symbols first = random_symbols(random_, 32 + random_() % 400, alphabet);
    const Sequence a = stored(first);
    for (int other = 0; other < 3; ++other) {
      const Symbols second = edited(random_, first, random_() % 130, alphabet);
      const Sequence b = stored(second);
      const uint64_t exact = edits(first, second);
      for (const uint64_t wanted : {exact - std::min<uint64_t>(exact, 1), exact, exact / 2,
                                    exact + 1, uint64_t{1}, uint64_t{3}}) {
        const uint32_t difference = std::max(a.length, b.length) - std::min(a.length, b.length);
        const uint64_t most = std::max<uint64_t>(wanted, difference);
        const FrontCheck::Plan plan = FrontCheck::plan(GetParam(), a.length, b.length, most);
        if (plan.symbols == 0) continue;
        const bool is_beyond = checks.front().are_beyond(a, b, plan);
        shown += static_cast<size_t>(is_beyond);
        ASSERT_FALSE(is_beyond && exact <= most) << a.length << " and " << b.length << " symbols, "
                                                 << exact << " edits, at most " << most;
        for (FrontCheck& check : checks) ASSERT_EQ(check.are_beyond(a, b, plan), is_beyond);
      }
    }
  }
  EXPECT_GT(shown, 100u);
}

// As many symbols, or pairs, without an equal as there are edits, and no more: inserted ones that
// occur nowhere else, at the front.
TEST_P(Fronts, AreNotBeyondAtTheLimitItself) {
  constexpr uint32_t kForeign = 200;
  FrontCheck check(pair_kernels());
  size_t checked = 0;
  for (uint64_t edits = 1; edits <= 100; ++edits) {
    const Symbols first = random_symbols(random_, 400, 26);
    Symbols second = first;
    for (uint64_t i = 0; i < edits; ++i) {
      second.insert(second.begin() + static_cast<std::ptrdiff_t>(3 * i), kForeign);
    }
    const Sequence a = stored(first);
    const Sequence b = stored(second);
    ASSERT_EQ(this->edits(first, second), edits);
    const FrontCheck::Plan plan = FrontCheck::plan(GetParam(), a.length, b.length, edits);
    if (plan.symbols == 0) continue;
    ++checked;
    ASSERT_FALSE(check.are_beyond(a, b, plan)) << edits;
    FrontCheck::Plan stricter = plan;
    --stricter.most;
    if (plan.symbols >= 3 * edits) {
      ASSERT_TRUE(check.are_beyond(a, b, stricter)) << edits;
    }
  }
  EXPECT_GT(checked, 20u);
}

// What it is for.
TEST_P(Fronts, ShowThatUnrelatedSequencesAreBeyond) {
  FrontCheck check(pair_kernels());
  for (const uint64_t most : {0, 1, 3, 10, 31}) {
    int shown = 0;
    for (int turn = 0; turn < 100; ++turn) {
      const Sequence a = stored(random_symbols(random_, 200, 26));
      const Sequence b = stored(random_symbols(random_, 200, 26));
      const FrontCheck::Plan plan = FrontCheck::plan(GetParam(), a.length, b.length, most);
      ASSERT_NE(plan.symbols, 0u) << most;
      shown += static_cast<int>(check.are_beyond(a, b, plan));
    }
    EXPECT_GE(shown, 90) << most;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Fronts, testing::Values(PairCount::lcs, PairCount::levenshtein),
                         [](const auto& count) {
                           return count.param == PairCount::lcs ? "Lcs" : "Levenshtein";
                         });

}  // namespace
}  // namespace hoist::match
