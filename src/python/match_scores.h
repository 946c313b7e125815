// Scores of pairs as RapidFuzz defines them, from what count_pairs() counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "match/pairs/pair_counts.h"

namespace hoist::python {

// "LCSseq.distance", "Indel.normalized_similarity", …, and "ratio".
struct PairScorer {
  enum class Family : uint8_t { lcs, indel, levenshtein };
  enum class Value : uint8_t { distance, similarity, normalized_distance, normalized_similarity };

  static std::optional<PairScorer> named(std::string_view name);

  match::PairCount counts() const {
    return family == Family::levenshtein ? match::PairCount::levenshtein : match::PairCount::lcs;
  }
  bool is_integer() const { return value == Value::distance || value == Value::similarity; }
  // What a pair without a sequence gets.
  double worst() const { return value == Value::normalized_distance ? 1.0 : 0.0; }
  // Of sequences of lengths m and n. Beyond the cut-off: 0, 1 for normalized distances, one above
  // the cut-off for distances.
  double score(uint64_t count, uint64_t m, uint64_t n, std::optional<double> cutoff) const;
  // The last count that the cut-off lets pass (match::PairOptions::limit).
  int64_t limit(uint64_t m, uint64_t n, double cutoff) const;

 private:
  // The largest distance that there is.
  uint64_t most(uint64_t m, uint64_t n) const {
    return family == Family::indel ? m + n : std::max(m, n);
  }
  // Rounds monotonically: no larger distance has a better one.
  double normalized(uint64_t distance, uint64_t most) const;
  bool passes(double normalized, double cutoff) const;

 public:
  Family family = Family::indel;
  Value value = Value::normalized_similarity;
  bool percent = false;
};

}  // namespace hoist::python
