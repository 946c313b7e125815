// Scores of pairs as RapidFuzz defines them, their cut-offs included: what pair calls and matrices
// of all pairs have in common.
//
//   const auto scorer = PairScorer::named("Levenshtein.normalized_similarity");
//   const Result<double> cutoff = scorer->cutoff(0.8);
//   double score = pair_score(*scorer, a, b, *cutoff);  // 0 where they are less alike
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "match/pairs/pair_kernels.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

struct PairScorer {
  enum class Family : uint8_t { lcs, indel, levenshtein };
  enum class Value : uint8_t { distance, similarity, normalized_distance, normalized_similarity };

  // "LCSseq.distance", "Indel.normalized_similarity", …, and "ratio": the latter in percent.
  static std::optional<PairScorer> named(std::string_view name);
  static std::vector<std::string> names();
  std::string name() const;

  PairCount counts() const {
    return family == Family::levenshtein ? PairCount::levenshtein : PairCount::lcs;
  }
  bool is_integer() const { return value == Value::distance || value == Value::similarity; }
  // What a pair without a sequence gets.
  double worst() const { return value == Value::normalized_distance ? 1.0 : 0.0; }

  // A cut-off as scores compare with it: without a fraction for counts, else held in 32 bits
  // (held_cutoff). Refuses what no score can be compared with: what is negative or infinite for
  // counts, beyond 0 to 1 for normalized scores, and NaN; percents may be any other number.
  Result<double> cutoff(double wanted) const;

  // The functions below take cut-offs of cutoff().

  // The score of sequences of lengths m and n. Beyond the cut-off: 0, 1 for normalized distances,
  // one above the cut-off for distances.
  double score(uint64_t count, uint64_t m, uint64_t n, std::optional<double> cutoff) const;
  // The last count that the cut-off lets pass (PairOptions::limit).
  int64_t limit(uint64_t m, uint64_t n, double cutoff) const;
  // The most edits (pair_edits()) that it lets pass; negative where none do.
  int64_t most_edits(uint64_t m, uint64_t n, double cutoff) const;

 private:
  // The largest distance that there is.
  uint64_t largest(uint64_t m, uint64_t n) const {
    return family == Family::indel ? m + n : std::max(m, n);
  }
  double normalized(uint64_t distance, uint64_t largest) const;
  bool passes(double normalized, double cutoff) const;

 public:
  Family family = Family::indel;
  Value value = Value::normalized_similarity;
  bool percent = false;
};

// The cut-off bounds the work. Once `stop` is requested, it returns soon, and what it returns is
// undefined.
double pair_score(const PairScorer& scorer, const Sequence& a, const Sequence& b,
                  std::optional<double> cutoff, const std::stop_token& stop = {});

// Steps of 64 cells that it takes at most, about.
uint64_t pair_score_steps(const PairScorer& scorer, const Sequence& a, const Sequence& b,
                          std::optional<double> cutoff);

}  // namespace hoist::match
