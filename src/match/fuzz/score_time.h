// How long a score takes, about, for who shares time: looks whether to stop, or gives up a lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "match/fuzz/fuzz_scorer.h"
#include "match/fuzz/prepared_scorer.h"

namespace hoist::match {

// Nanoseconds for two sequences of m and n symbols, of which most are much less where a cut-off
// tells soon. An order of magnitude, not a measure.
inline uint64_t score_time(const FuzzScorer& scorer, uint64_t m, uint64_t n) {
  using Kind = FuzzScorer::Kind;
  constexpr uint64_t kLaneBits = 64;
  constexpr uint64_t kCall = 16;
  const uint64_t in_words = kCall + (std::min(m, n) / kLaneBits + 1) * std::max(m, n);
  switch (scorer.kind) {
    case Kind::hamming:
    case Kind::prefix:
    case Kind::postfix:
      return kCall + std::min(m, n) / 16;
    case Kind::lcs:
    case Kind::indel:
    case Kind::osa:
    case Kind::ratio:
    case Kind::quick_ratio:
      return in_words;
    case Kind::levenshtein:
      return scorer.weights.are_of_one_cost() ? in_words : kCall + 6 * m * n;
    case Kind::jaro:
    case Kind::jaro_winkler:
      return 4 * in_words;
    case Kind::damerau_levenshtein:
      return kCall + 10 * m * n;
    case Kind::token_sort_ratio:
    case Kind::token_set_ratio:
    case Kind::token_ratio:
      return 4 * in_words + 32 * (m + n);
    default:
      return kCall + 4 * m * n + 32 * (m + n);
  }
}

// prepared.score(b, cutoff), where `prepared` has `a`; where it takes long, of scorers that have a
// pair_scorer(), it returns soon once `stop` is requested, and what it returns is undefined.
inline double stoppable_score(PreparedScorer& prepared, const FuzzScorer& scorer, const Sequence& a,
                              const Sequence& b, std::optional<double> cutoff,
                              const std::stop_token& stop) {
  constexpr uint64_t kLongCells = uint64_t{1} << 24;
  if (uint64_t{a.length} * b.length < kLongCells) return prepared.score(b, cutoff);
  return fuzz_score(scorer, a, b, cutoff, stop);
}

}  // namespace hoist::match
