// Many with many, one with many, and prepared sequences, by every set of kernels: against plain
// definitions, and against scores of single pairs.
#include "match/fuzz/fuzz_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <random>
#include <utility>

#include "base/test_seed.h"
#include "match/fuzz/best_matches.h"
#include "match/fuzz/masked_counts.h"
#include "match/fuzz/part_counts.h"
#include "match/fuzz/place_counts.h"
#include "match/fuzz/plain_distances.h"
#include "match/fuzz/prepared_scorer.h"

namespace hoist::match {
namespace {

using Random = std::mt19937_64;

// Sequences of all widths, and their symbols.
class List {
 public:
  void add(const Numbers& symbols, uint32_t width) {
    symbols_.push_back(symbols);
    switch (width) {
      case 1:
        return take(bytes_.emplace_back(symbols.begin(), symbols.end()));
      case 2:
        return take(pairs_.emplace_back(symbols.begin(), symbols.end()));
      default:
        return take(words_.emplace_back(symbols.begin(), symbols.end()));
    }
  }

  SequenceList view() const { return sequences_; }
  const Numbers& operator[](size_t i) const { return symbols_[i]; }
  size_t size() const { return symbols_.size(); }

 private:
  template <typename Symbols>
  void take(const Symbols& symbols) {
    sequences_.emplace_back(symbols.data(), symbols.size());
  }

  std::vector<Numbers> symbols_;
  std::deque<std::vector<uint8_t>> bytes_;
  std::deque<std::vector<uint16_t>> pairs_;
  std::deque<std::vector<uint32_t>> words_;
  std::vector<Sequence> sequences_;
};

// Lengths around those of lanes and words, of letters or of what is beyond bytes.
Numbers any(Random& random, size_t most, uint32_t letters, uint32_t first) {
  static constexpr size_t kEdges[] = {0,  1,  7,  8,  9,  15,  16,  17, 31,
                                      32, 33, 63, 64, 65, 127, 128, 129};
  size_t size = random() % (most + 1);
  if (random() % 2 == 0) size = std::min(most, kEdges[random() % std::size(kEdges)]);
  Numbers out(size);
  for (uint32_t& symbol : out) symbol = static_cast<uint32_t>(first + random() % letters);
  return out;
}

// A copy with some neighbours swapped and some symbols changed: what transpositions are about.
Numbers alike(Random& random, Numbers symbols) {
  for (int i = 0; i < 4 && symbols.size() > 1; ++i) {
    const size_t at = random() % (symbols.size() - 1);
    std::swap(symbols[at], symbols[at + 1]);
    if (random() % 2 == 0) symbols[random() % symbols.size()] = 'x';
    if (random() % 4 == 0) symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(at));
  }
  return symbols;
}

List any_list(Random& random, size_t count, size_t most, const List* like = nullptr) {
  List list;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t width = std::array{1u, 1u, 2u, 4u}[random() % 4];
    const uint32_t first = width == 1 || random() % 2 == 0 ? 'a' : 0x3B1;
    Numbers symbols = any(random, most, 2 + static_cast<uint32_t>(random() % 12), first);
    if (like != nullptr && random() % 2 == 0)
      symbols = alike(random, (*like)[random() % like->size()]);
    const bool fits =
        std::all_of(symbols.begin(), symbols.end(), [](uint32_t c) { return c < 256; });
    list.add(symbols, fits ? width : std::max(width, 2u));
  }
  return list;
}

uint64_t plain_osa(const Numbers& a, const Numbers& b) {
  std::vector<std::vector<uint64_t>> d(a.size() + 1, std::vector<uint64_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      uint64_t best = i == 0 ? j : j == 0 ? i : ~uint64_t{0};
      if (i > 0 && j > 0) {
        best = std::min(
            {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      }
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best = std::min(best, d[i - 2][j - 2] + 1);
      }
      d[i][j] = best;
    }
  }
  return d[a.size()][b.size()];
}

uint64_t plain_levenshtein(const Numbers& a, const Numbers& b) {
  std::vector<uint64_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    uint64_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const uint64_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

uint64_t plain_lcs(std::span<const uint32_t> a, std::span<const uint32_t> b) {
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

double plain_winkler(const Numbers& a, const Numbers& b) {
  const double jaro = plain_jaro(a, b);
  if (jaro <= 0.7) return jaro;
  size_t prefix = 0;
  while (prefix < 4 && prefix < std::min(a.size(), b.size()) && a[prefix] == b[prefix]) ++prefix;
  return std::min(1.0, jaro + static_cast<double>(prefix) * 0.1 * (1.0 - jaro));
}

FuzzScorer scorer_named(std::string_view name) { return *FuzzScorer::named(name); }

std::vector<double> matrix(const FuzzScoring& scoring, const List& queries, const List& choices,
                           int threads) {
  ThreadPool pool(threads);
  std::vector<double> out(queries.size() * choices.size(), -1);
  fill_fuzz_scores<double>(scoring, queries.view(), choices.view(), pool, out);
  return out;
}

TEST(FuzzMatrix, TranspositionsAndJaroAsDefined) {
  Random random(test_seed());
  for (const PairKernels* const kernels : all_pair_kernels()) {
    for (int turn = 0; turn < 30; ++turn) {
      // Batches of one length's lanes, and of several.
      const size_t most = std::array{8, 16, 32, 64, 140}[static_cast<size_t>(turn) % 5];
      const List queries = any_list(random, 1 + random() % 60, most);
      const List choices = any_list(random, 1 + random() % 150, 140, &queries);
      const auto filled = [&](std::string_view name) {
        return matrix({scorer_named(name), {}, 1, kernels}, queries, choices, 1 + turn % 2);
      };
      const std::vector<double> osa = filled("OSA.distance");
      const std::vector<double> jaro = filled("Jaro.similarity");
      const std::vector<double> winkler = filled("JaroWinkler.similarity");
      for (size_t row = 0; row < queries.size(); ++row) {
        for (size_t column = 0; column < choices.size(); ++column) {
          const size_t at = row * choices.size() + column;
          const Numbers& a = queries[row];
          const Numbers& b = choices[column];
          ASSERT_EQ(osa[at], plain_osa(a, b)) << kernels->name;
          ASSERT_EQ(jaro[at], plain_jaro(a, b)) << kernels->name << a.size() << "," << b.size();
          ASSERT_EQ(winkler[at], plain_winkler(a, b)) << kernels->name;
        }
      }
    }
  }
}

// Every scorer, with its cut-offs, element types and multipliers, as for a pair alone.
TEST(FuzzMatrix, AsPairsAlone) {
  Random random(test_seed());
  for (const std::string_view name :
       {"OSA.normalized_similarity", "OSA.similarity", "Jaro.distance",
        "JaroWinkler.normalized_distance", "Hamming.distance", "Prefix.similarity",
        "Postfix.normalized_distance", "DamerauLevenshtein.distance", "Levenshtein.distance",
        "LCSseq.similarity", "ratio", "QRatio", "token_sort_ratio", "token_set_ratio", "WRatio",
        "partial_ratio", "partial_token_ratio"}) {
    const List queries = any_list(random, 40, 80);
    const List choices = any_list(random, 90, 140, &queries);
    FuzzScoring scoring = {scorer_named(name), {}, 1, nullptr};
    for (const bool has_cutoff : {false, true}) {
      const bool is_count = scoring.scorer.is_count();
      if (has_cutoff) scoring.cutoff = is_count ? 4 : scoring.scorer.is_percent() ? 60 : 0.6;
      const std::vector<double> scores = matrix(scoring, queries, choices, 2);
      for (size_t row = 0; row < queries.size(); ++row) {
        for (size_t column = 0; column < choices.size(); ++column) {
          ASSERT_EQ(scores[row * choices.size() + column],
                    fuzz_score(scoring.scorer, queries.view()[row], choices.view()[column],
                               scoring.cutoff))
              << name << has_cutoff;
        }
      }
    }
    const SequenceList same = choices.view().first(queries.size());
    for (const int threads : {1, 3}) {
      ThreadPool some(threads);
      std::vector<double> pairs(queries.size());
      fill_fuzz_pairs<double>(scoring, queries.view(), same, some, pairs);
      for (size_t i = 0; i < pairs.size(); ++i) {
        ASSERT_EQ(pairs[i], fuzz_score(scoring.scorer, queries.view()[i], same[i], scoring.cutoff));
      }
    }
    scoring.cutoff.reset();
    scoring.multiplier = scoring.scorer.is_percent() || scoring.scorer.is_count() ? 1 : 100;
    ThreadPool pool(1);
    std::vector<uint8_t> rounded(queries.size() * choices.size());
    fill_fuzz_scores<uint8_t>(scoring, queries.view(), choices.view(), pool, rounded);
    const std::vector<double> scores = matrix(scoring, queries, choices, 1);
    for (size_t i = 0; i < scores.size(); ++i) ASSERT_EQ(rounded[i], std::round(scores[i])) << name;
  }
}

TEST(FuzzMatrix, StopsEarly) {
  Random random(test_seed());
  const List queries = any_list(random, 4, 64);
  ThreadPool pool(1);
  std::stop_source source;
  source.request_stop();
  for (const std::string_view name : {"OSA.distance", "Hamming.distance", "WRatio"}) {
    std::vector<double> out(16, -1);
    const FuzzScoring scoring = {scorer_named(name), {}, 1, nullptr};
    fill_fuzz_scores<double>(scoring, queries.view(), queries.view(), pool, out,
                             source.get_token());
    EXPECT_EQ(out, std::vector<double>(16, -1)) << name;
  }
}

TEST(FuzzMatrix, PreparedCountsAsDefined) {
  Random random(test_seed());
  for (int turn = 0; turn < 400; ++turn) {
    const size_t most = turn % 4 == 0 ? 600 : 140;
    const List queries = any_list(random, 1, most);
    const List others = any_list(random, 3, most, &queries);
    const QueryMasks masks(queries[0]);
    for (size_t i = 0; i < others.size(); ++i) {
      const Sequence& other = others.view()[i];
      ASSERT_EQ(lcs_length(masks, other), plain_lcs(queries[0], others[i]));
      ASSERT_EQ(levenshtein_distance(masks, other), plain_levenshtein(queries[0], others[i]));
      ASSERT_EQ(osa_distance(masks, other), plain_osa(queries[0], others[i]));
      if (queries[0].empty() || others[i].empty()) continue;
      ASSERT_EQ(jaro_of(common_symbols(masks, other), queries[0].size(), others[i].size()),
                plain_jaro(queries[0], others[i]));
    }
  }
}

TEST(FuzzMatrix, PlacesAsDefined) {
  Random random(test_seed());
  for (int turn = 0; turn < 3000; ++turn) {
    const List a = any_list(random, 1, 140);
    const List b = any_list(random, 1, 140, &a);
    const Sequence& x = a.view()[0];
    const Sequence& y = b.view()[0];
    const size_t common = std::min(a[0].size(), b[0].size());
    size_t differ = std::max(a[0].size(), b[0].size()) - common;
    for (size_t i = 0; i < common; ++i) differ += a[0][i] != b[0][i] ? 1 : 0;
    size_t front = 0;
    while (front < common && a[0][front] == b[0][front]) ++front;
    size_t back = 0;
    while (back < common && a[0].end()[-1 - static_cast<ptrdiff_t>(back)] ==
                                b[0].end()[-1 - static_cast<ptrdiff_t>(back)])
      ++back;
    ASSERT_EQ(hamming_distance(x, y), differ);
    ASSERT_EQ(common_prefix(x, y), front);
    ASSERT_EQ(common_suffix(x, y), back);
  }
}

TEST(FuzzMatrix, PartsAsDefined) {
  Random random(test_seed());
  for (const PairKernels* const kernels : all_pair_kernels()) {
    PartCounts counts(*kernels);
    for (int turn = 0; turn < 200; ++turn) {
      const size_t most = turn % 20 == 0 ? 700 : 140;
      const Numbers needle = any(random, most, 3, 'a');
      Numbers text = any(random, most, 3, 'a');
      text.resize(std::max(text.size(), needle.size()), 'c');
      if (needle.empty()) continue;
      const QueryMasks masks(needle);
      counts.set(needle, masks, text);
      const size_t size = needle.size();
      ASSERT_EQ(counts.is_empty(), plain_lcs(needle, text) == 0);
      if (counts.is_empty()) continue;
      uint64_t most_of_whole = 0;
      for (size_t end = 1; end < text.size() + size; ++end) {
        const size_t begin = end > size ? end - size : 0;
        const size_t last = std::min(end, text.size());
        // Parts in the text from time to time, those at its ends always.
        const bool is_whole = begin > 0 && end < text.size();
        if (most > 140 && random() % 16 != 0) continue;
        const uint64_t expected = plain_lcs(needle, std::span(text).subspan(begin, last - begin));
        ASSERT_EQ(counts.common(begin, last), expected)
            << kernels->name << (is_whole ? "" : " end");
        if (last - begin == size && last < text.size())
          most_of_whole = std::max(most_of_whole, expected);
      }
      if (most == 140) {
        const uint64_t least = random() % (size + 2);
        const uint64_t found = counts.most_of_whole(least);
        if (most_of_whole >= least) {
          ASSERT_EQ(found, most_of_whole);
        } else {
          ASSERT_LE(found, most_of_whole);
        }
        ASSERT_EQ(counts.most_of_whole(), most_of_whole);
      }
    }
  }
}

// Needles that are in a long text, nearly, or not at all.
TEST(FuzzMatrix, TheBestPartOfLongTexts) {
  Random random(test_seed());
  PartCounts counts;
  for (int turn = 0; turn < 60; ++turn) {
    const uint32_t letters = turn % 3 == 0 ? 3 : 26;
    Numbers needle = any(random, turn % 4 == 0 ? 700 : 90, letters, 'a');
    Numbers text = any(random, 1, letters, 'a');
    while (text.size() < needle.size() + 1200)
      text.push_back(static_cast<uint32_t>('a' + random() % letters));
    if (needle.empty()) continue;
    if (turn % 2 == 0) {
      const size_t place = random() % (text.size() - needle.size());
      std::copy(needle.begin(), needle.end(), text.begin() + static_cast<ptrdiff_t>(place));
      for (uint64_t edits = random() % 3; edits != 0; --edits) {
        needle[random() % needle.size()] = 'z';
      }
    }
    const QueryMasks masks(needle);
    counts.set(needle, masks, text);
    if (counts.is_empty()) continue;
    uint64_t most = 0;
    for (size_t place = 0; place + needle.size() < text.size(); ++place) {
      const Symbols part = Symbols(text).subspan(place, needle.size());
      most = std::max(most, lcs_length(masks, as_sequence(part)));
    }
    const uint64_t least = random() % (most + 2);
    const uint64_t found = counts.most_of_whole(least);
    if (most >= least) {
      ASSERT_EQ(found, most);
    } else {
      ASSERT_LE(found, most);
    }
  }
}

// As all of them sorted.
TEST(FuzzMatrix, BestAreTheBestInOrder) {
  Random random(test_seed());
  for (const std::string_view name :
       {"ratio", "WRatio", "token_set_ratio", "partial_ratio", "Levenshtein.distance",
        "OSA.normalized_distance", "Jaro.similarity", "LCSseq.similarity", "Hamming.distance",
        "Indel.normalized_similarity", "JaroWinkler.distance"}) {
    const FuzzScorer scorer = scorer_named(name);
    const double sign = scorer.is_distance() ? -1 : 1;
    for (int turn = 0; turn < 4; ++turn) {
      const List query = any_list(random, 1, 30);
      const List choices = any_list(random, turn == 0 ? 20000 : 300, 30, &query);
      const std::vector<size_t> missing = {3, 7, 8, 250};
      for (const size_t limit : {0, 1, 5, 40, 100000}) {
        std::optional<double> cutoff;
        if (turn % 2 == 1) cutoff = scorer.is_count() ? 6 : scorer.is_percent() ? 40 : 0.5;
        std::vector<Match> expected;
        for (size_t i = 0; i < choices.size(); ++i) {
          const Sequence& choice = choices.view()[i];
          const double score = fuzz_score(scorer, query.view()[0], choice, cutoff);
          if (cutoff && sign * score < sign * *cutoff) continue;
          if (std::find(missing.begin(), missing.end(), i) != missing.end()) continue;
          expected.push_back({score, i});
        }
        std::stable_sort(expected.begin(), expected.end(), [&](const Match& a, const Match& b) {
          return sign * a.score > sign * b.score;
        });
        expected.resize(std::min(expected.size(), limit));
        for (const int threads : {1, 3}) {
          ThreadPool pool(threads);
          BestMatches best(scorer, query.view()[0], cutoff, limit);
          best.score({choices.view(), 0, {}, missing}, pool);
          const std::vector<Match> found = best.take();
          ASSERT_EQ(found.size(), expected.size()) << name << limit;
          for (size_t i = 0; i < found.size(); ++i) {
            ASSERT_EQ(found[i].place, expected[i].place) << name << limit;
            ASSERT_EQ(found[i].score, expected[i].score) << name << limit;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hoist::match
