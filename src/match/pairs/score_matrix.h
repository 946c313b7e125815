// Scores of all pairs of two lists, as a matrix: what count_pairs() counts, by a PairScorer.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <type_traits>

#include "base/threads.h"
#include "match/pairs/pair_scorer.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

struct PairScoring {
  PairScorer scorer;
  std::optional<double> cutoff;  // of PairScorer::cutoff()
  double multiplier = 1;
};

// A score as an element of the matrix: rounded to the nearest where that is an integer.
template <typename T>
T score_element(double score) {
  if constexpr (std::is_integral_v<T>) {
    const auto whole = static_cast<int64_t>(score);
    if (static_cast<double>(whole) == score) return static_cast<T>(whole);
    return static_cast<T>(static_cast<int64_t>(std::round(score)));
  } else {
    return static_cast<T>(score);
  }
}

// queries.size() rows of choices.size() elements: float, double, or an integer of 8 to 64 bits.
// Once `stop` is requested, it returns soon, and what it has written is undefined.
template <typename T>
void fill_scores(const PairScoring& scoring, const SequenceList& queries,
                 const SequenceList& choices, ThreadPool& pool, std::span<T> out,
                 const std::stop_token& stop = {});

}  // namespace hoist::match
