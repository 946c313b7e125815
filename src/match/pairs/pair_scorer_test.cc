// Every scorer with and without cut-offs against the plain dynamic program and the definition of
// scores, and single pairs against matrices.
#include "match/pairs/pair_scorer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/test_seed.h"
#include "base/threads.h"
#include "match/oracle/oracle.h"
#include "match/pairs/pair_counts.h"
#include "match/score/scorer.h"

namespace hoist::match {
namespace {

using Symbols = std::vector<uint32_t>;
using Value = PairScorer::Value;
using Family = PairScorer::Family;

double plain_score(const PairScorer& scorer, const Symbols& a, const Symbols& b) {
  const size_t lcs = oracle::lcs_length(a, b);
  const size_t m = a.size();
  const size_t n = b.size();
  const size_t largest = scorer.family == Family::indel ? m + n : std::max(m, n);
  const size_t distance = scorer.family == Family::levenshtein ? oracle::levenshtein_distance(a, b)
                          : scorer.family == Family::indel     ? m + n - 2 * lcs
                                                               : largest - lcs;
  const double share =
      largest == 0 ? 0.0 : static_cast<double>(distance) / static_cast<double>(largest);
  switch (scorer.value) {
    case Value::distance:
      return static_cast<double>(distance);
    case Value::similarity:
      return static_cast<double>(largest - distance);
    case Value::normalized_distance:
      return share;
    case Value::normalized_similarity:
      break;
  }
  return scorer.percent ? (1.0 - share) * 100.0 : 1.0 - share;
}

// By the score alone. RapidFuzz compares percents as shares.
double plain_cut(const PairScorer& scorer, double score, double share, double cutoff) {
  switch (scorer.value) {
    case Value::distance:
      return score > cutoff ? cutoff + 1 : score;
    case Value::normalized_distance:
      return score > static_cast<float>(cutoff) ? 1.0 : score;
    case Value::similarity:
      return score < cutoff ? 0.0 : score;
    case Value::normalized_similarity:
      break;
  }
  const double held = static_cast<float>(cutoff);
  return share < (scorer.percent ? held / 100.0 : held) ? 0.0 : score;
}

TEST(PairScorer, ScoresAsDefinedAtEveryCutoff) {
  std::mt19937_64 random(test_seed());
  const auto any = [&](size_t most) {
    Symbols out(random() % most);
    for (uint32_t& symbol : out) symbol = static_cast<uint32_t>('a' + random() % 3);
    return out;
  };
  for (int turn = 0; turn < 3000; ++turn) {
    const size_t most = turn % 10 == 0 ? 90 : 12;
    const Symbols a = any(most);
    const Symbols b = any(most);
    for (const std::string& name : PairScorer::names()) {
      const PairScorer scorer = *PairScorer::named(name);
      ASSERT_EQ(scorer.name(), name);
      const Sequence x(a.data(), a.size());
      const Sequence y(b.data(), b.size());
      const double score = plain_score(scorer, a, b);
      ASSERT_EQ(pair_score(scorer, x, y, {}), score) << name;
      PairScorer as_share = scorer;
      as_share.percent = false;
      const double share = plain_score(as_share, a, b);
      const double step = scorer.is_integer() ? 1 : scorer.percent ? 1e-5 : 1e-7;
      for (double cutoff : {0.0, score - step, score, score + step, scorer.percent ? 100.0 : 1.0,
                            std::nextafter(score, 0.0), scorer.percent ? 250.0 : score}) {
        if (scorer.is_integer()) cutoff = std::floor(cutoff);
        const Result<double> held = scorer.cutoff(cutoff);
        if (!held) {  // beyond 0 to 1
          ASSERT_TRUE(cutoff < 0 || cutoff > 1) << name << " " << cutoff;
          continue;
        }
        const double expected = plain_cut(scorer, score, share, cutoff);
        ASSERT_EQ(pair_score(scorer, x, y, *held), expected) << name << " at " << cutoff;
        // All pairs, of one.
        ThreadPool pool(1);
        PairOptions options;
        options.limit = [&](uint32_t m, uint32_t n) { return scorer.limit(m, n, *held); };
        double of_matrix = -1;
        count_pairs(
            scorer.counts(), {&x, 1}, {&y, 1}, pool,
            [&](const PairRun& run) {
              of_matrix = scorer.score(run.counts[0], a.size(), b.size(), *held);
            },
            options);
        ASSERT_EQ(of_matrix, expected) << name << " at " << cutoff;
      }
    }
  }
}

TEST(PairScorer, HoldsAndRefusesCutoffs) {
  const auto cutoff = [](const char* name, double wanted) {
    return PairScorer::named(name)->cutoff(wanted);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(*cutoff("Indel.distance", 2.9), 2);
  EXPECT_EQ(*cutoff("Indel.distance", -0.5), 0);
  EXPECT_EQ(*cutoff("Indel.similarity", 1e300), 1e300);
  EXPECT_EQ(*cutoff("Indel.normalized_distance", 0.4), static_cast<double>(0.4F));
  EXPECT_EQ(*cutoff("ratio", -3), -3);
  EXPECT_EQ(*cutoff("ratio", 1e9), 1e9);
  EXPECT_EQ(*cutoff("ratio", kInfinity), kInfinity);
  for (const double wrong : {-1.0, kInfinity, -kInfinity, std::nan("")}) {
    EXPECT_FALSE(cutoff("Levenshtein.distance", wrong)) << wrong;
    EXPECT_FALSE(cutoff("LCSseq.normalized_similarity", wrong)) << wrong;
  }
  EXPECT_FALSE(cutoff("LCSseq.normalized_similarity", 1.5));
  const auto refused = cutoff("ratio", std::nan(""));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("score_cutoff"), std::string::npos);
}

// The scorers of searches and those of pairs have one arithmetic.
TEST(PairScorer, AgreesWithSearches) {
  std::mt19937_64 random(test_seed());
  constexpr std::pair<Scorer, const char*> kScorers[] = {
      {Scorer::lcs, "LCSseq.normalized_similarity"},
      {Scorer::indel, "Indel.normalized_similarity"},
      {Scorer::levenshtein, "Levenshtein.normalized_similarity"}};
  for (int turn = 0; turn < 20000; ++turn) {
    const uint64_t m = random() % 40;
    const uint64_t n = random() % 40;
    for (const auto& [scorer, name] : kScorers) {
      const PairScorer pair = *PairScorer::named(name);
      const uint64_t count =
          random() % ((scorer == Scorer::levenshtein ? std::max(m, n) : std::min(m, n)) + 1);
      const double score = score_of(scorer, count, m, n).normalized;
      ASSERT_EQ(pair.score(count, m, n, {}), score);
      for (const double cutoff :
           {score, static_cast<double>(random() % 1001) / 1000, std::nextafter(score, 0.0)}) {
        const double held = held_cutoff(cutoff);
        ASSERT_EQ(held, *pair.cutoff(cutoff));
        ASSERT_EQ(pair.score(count, m, n, held), reaches(scorer, count, m, n, held) ? score : 0.0)
            << name << " " << count << " " << m << " " << n << " at " << cutoff;
      }
    }
  }
}

}  // namespace
}  // namespace hoist::match
