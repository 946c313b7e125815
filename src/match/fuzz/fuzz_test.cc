// Distances against plain recursion over the whole matrix, edits against what they lead to, parts
// against every part, and ratios of words against what RapidFuzz documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "base/test_seed.h"
#include "match/fuzz/edit_script.h"
#include "match/fuzz/fuzz_scorer.h"
#include "match/fuzz/plain_distances.h"
#include "match/fuzz/ratios.h"

namespace hoist::match {
namespace {

Numbers numbers(std::string_view text) { return {text.begin(), text.end()}; }

Sequence sequence(const Numbers& symbols) { return as_sequence(symbols); }

Numbers any(std::mt19937_64& random, size_t most, uint32_t letters = 3) {
  Numbers out(random() % most);
  for (uint32_t& symbol : out) symbol = static_cast<uint32_t>('a' + random() % letters);
  return out;
}

using Ratio = double (Ratios::*)(const Text&, double);

double of(Ratio ratio, const Text& a, const Text& b, double cutoff) {
  Ratios query;
  query.set(a);
  return (query.*ratio)(b, cutoff);
}

uint64_t lcs(Symbols a, Symbols b) {
  std::vector<uint64_t> row(b.size() + 1);
  for (const uint32_t symbol : a) {
    uint64_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const uint64_t above = row[j];
      row[j] = symbol == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

TEST(Fuzz, TranspositionsAsDefined) {
  std::mt19937_64 random(test_seed());
  for (int turn = 0; turn < 20000; ++turn) {
    const Numbers a = any(random, 12, 4);
    const Numbers b = any(random, 12, 4);
    ASSERT_EQ(damerau_levenshtein_distance(sequence(a), sequence(b)),
              plain_transposing(a, b, false));
    ASSERT_EQ(osa_distance(sequence(a), sequence(b)), plain_transposing(a, b, true));
  }
  EXPECT_EQ(osa_distance(sequence(numbers("CA")), sequence(numbers("ABC"))), 3);
  EXPECT_EQ(damerau_levenshtein_distance(sequence(numbers("CA")), sequence(numbers("ABC"))), 2);
}

TEST(Fuzz, EditsLeadThereAndAreFewest) {
  std::mt19937_64 random(test_seed());
  for (int turn = 0; turn < 20000; ++turn) {
    const size_t most = turn % 50 == 0 ? 300 : 20;
    const Numbers a = any(random, most);
    const Numbers b = any(random, most);
    for (const bool replaces : {false, true}) {
      const std::vector<Edit> edits = replaces ? levenshtein_edits(a, b) : indel_edits(a, b);
      const uint64_t fewest = replaces ? weighted_distance(sequence(a), sequence(b), {})
                                       : a.size() + b.size() - 2 * lcs(a, b);
      ASSERT_EQ(edits.size(), fewest);
      Numbers made;
      size_t source = 0;
      for (const Edit& edit : edits) {
        while (source < edit.source) made.push_back(a[source++]);
        ASSERT_EQ(made.size(), edit.destination);
        if (edit.kind != Edit::Kind::deletion) made.push_back(b[edit.destination]);
        if (edit.kind != Edit::Kind::insertion) ++source;
        ASSERT_TRUE(replaces || edit.kind != Edit::Kind::replacement);
      }
      made.insert(made.end(), a.begin() + static_cast<ptrdiff_t>(source), a.end());
      ASSERT_EQ(made, b);
    }
  }
}

// With costs, by the plain recursion.
TEST(Fuzz, WeightsAsDefined) {
  std::mt19937_64 random(test_seed());
  for (int turn = 0; turn < 5000; ++turn) {
    const Numbers a = any(random, 12);
    const Numbers b = any(random, 12);
    const EditWeights weights{random() % 4, random() % 4, random() % 4};
    std::vector<std::vector<uint64_t>> d(a.size() + 1, std::vector<uint64_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i) {
      for (size_t j = 0; j <= b.size(); ++j) {
        uint64_t best = i == 0 && j == 0 ? 0 : ~uint64_t{0};
        if (i > 0) best = std::min(best, d[i - 1][j] + weights.deletion);
        if (j > 0) best = std::min(best, d[i][j - 1] + weights.insertion);
        if (i > 0 && j > 0) {
          best = std::min(best, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : weights.replacement));
        }
        d[i][j] = best;
      }
    }
    ASSERT_EQ(weighted_distance(sequence(a), sequence(b), weights), d[a.size()][b.size()]);
    ASSERT_LE(d[a.size()][b.size()], weights.most(a.size(), b.size()));
  }
}

// The best of all parts that are as long as the shorter sequence, and of all shorter ones at the
// ends; also with more than a word of symbols.
TEST(Fuzz, PartsAreTheBest) {
  std::mt19937_64 random(test_seed());
  for (int turn = 0; turn < 3000; ++turn) {
    const size_t most = turn % 20 == 0 ? 150 : 14;
    Numbers a = any(random, most);
    Numbers b = any(random, most * 2);
    if (a.size() >= b.size() || a.empty()) continue;
    const auto score = [&](size_t begin, size_t end) {
      const Symbols part = Symbols(b).subspan(begin, end - begin);
      const auto lengths = static_cast<double>(a.size() + part.size());
      const auto common = static_cast<double>(lcs(a, part));
      return (1.0 - (lengths - 2 * common) / lengths) * 100.0;
    };
    double best = 0;
    for (size_t begin = 0; begin < b.size(); ++begin) {
      best = std::max(best, score(begin, std::min(begin + a.size(), b.size())));
    }
    for (size_t end = 1; end < a.size(); ++end) best = std::max(best, score(0, end));
    const PartialAlignment found = partial_ratio_alignment(a, b, 0);
    ASSERT_EQ(found.score, best);
    if (best > 0) {
      ASSERT_EQ(score(found.destination_begin, found.destination_end), best);
    }
    const PartialAlignment turned = partial_ratio_alignment(b, a, 0);
    ASSERT_EQ(turned.source_begin, found.destination_begin);
    ASSERT_EQ(of(&Ratios::partial_ratio, a, b, best - 1e-9), best);
    ASSERT_EQ(of(&Ratios::partial_ratio, a, b, best + 1e-9), 0);
  }
}

TEST(Fuzz, WordsAsDocumented) {
  const Numbers fuzzy = numbers("fuzzy wuzzy was a bear");
  const Numbers wuzzy = numbers("wuzzy fuzzy was a bear");
  EXPECT_NEAR(of(&Ratios::ratio, fuzzy, wuzzy, 0), 90.909, 0.001);
  EXPECT_EQ(of(&Ratios::token_sort_ratio, fuzzy, wuzzy, 0), 100);
  EXPECT_NEAR(of(&Ratios::token_sort_ratio, fuzzy, numbers("fuzzy fuzzy was a bear"), 0), 77.273,
              0.001);
  EXPECT_EQ(of(&Ratios::token_set_ratio, numbers("fuzzy was a bear"),
               numbers("fuzzy fuzzy was a bear"), 0),
            100);
  EXPECT_EQ(of(&Ratios::partial_ratio, numbers("this is a test"), numbers("this is a test!"), 0),
            100);
  EXPECT_EQ(of(&Ratios::token_set_ratio, Symbols(), fuzzy, 0), 0);
  EXPECT_EQ(of(&Ratios::weighted_ratio, fuzzy, Symbols(), 0), 0);
  // 0xA0 separates what is wide only.
  const Numbers apart = {'b', 0xA0, 'a'};
  EXPECT_EQ(of(&Ratios::token_sort_ratio, apart, numbers("a b"), 0), 100);
  EXPECT_LT(of(&Ratios::token_sort_ratio, {apart, true}, numbers("a b"), 0), 100);
}

TEST(Fuzz, JaroAsPublished) {
  EXPECT_NEAR(jaro_similarity(sequence(numbers("MARTHA")), sequence(numbers("MARHTA"))), 0.9444,
              0.0001);
  EXPECT_NEAR(jaro_similarity(sequence(numbers("DIXON")), sequence(numbers("DICKSONX"))), 0.7667,
              0.0001);
  EXPECT_NEAR(jaro_winkler_similarity(sequence(numbers("DWAYNE")), sequence(numbers("DUANE")), 0.1),
              0.84, 0.0001);
  EXPECT_EQ(jaro_similarity(sequence({}), sequence({})), 1);
}

TEST(Fuzz, EveryScorerByNameAndBeyondItsCutoff) {
  const Numbers a = numbers("abcdef gh");
  const Numbers b = numbers("gh xbcdef");
  const Sequence x(a.data(), a.size());
  const Sequence y(b.data(), b.size());
  for (const char* metric : {"LCSseq", "Indel", "Levenshtein", "OSA", "DamerauLevenshtein",
                             "Hamming", "Prefix", "Postfix", "Jaro", "JaroWinkler"}) {
    const auto score = [&](const char* value, std::optional<double> cutoff) {
      const auto scorer = FuzzScorer::named(std::string(metric) + "." + value);
      EXPECT_TRUE(scorer.has_value());
      return fuzz_score(*scorer, x, y, cutoff);
    };
    const double share = score("normalized_distance", {});
    EXPECT_GT(share, 0) << metric;
    EXPECT_EQ(score("normalized_similarity", {}), 1.0 - share) << metric;
    EXPECT_EQ(score("normalized_distance", share / 2), 1) << metric;
    EXPECT_EQ(score("normalized_similarity", 1.0), 0) << metric;
    EXPECT_EQ(score("distance", 0.0), 1) << metric;
    EXPECT_EQ(score("similarity", 1e9), 0) << metric;
  }
  for (const char* name : {"ratio", "partial_ratio", "token_sort_ratio", "token_ratio", "WRatio",
                           "QRatio", "partial_token_ratio", "token_set_ratio"}) {
    const auto scorer = FuzzScorer::named(name);
    ASSERT_TRUE(scorer.has_value()) << name;
    const double score = fuzz_score(*scorer, x, y, {});
    EXPECT_GT(score, 0) << name;
    EXPECT_EQ(fuzz_score(*scorer, x, y, 100.1), 0) << name;
    EXPECT_EQ(fuzz_score(*scorer, x, y, score / 2), score) << name;
  }
  EXPECT_FALSE(FuzzScorer::named("Jaro").has_value());
  EXPECT_FALSE(FuzzScorer::named("Jaro.ratio").has_value());
}

}  // namespace
}  // namespace hoist::match
