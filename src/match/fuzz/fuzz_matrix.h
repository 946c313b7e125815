// Scores of all pairs of two lists by any scorer of RapidFuzz, as a matrix.
//
// OSA and Jaro go side by side in vector lanes, as the counts of count_pairs() do; the scorers of
// match/pairs are its fill_scores(); others take one prepared query after another.
#pragma once

#include <optional>
#include <span>
#include <stop_token>

#include "base/threads.h"
#include "match/fuzz/fuzz_scorer.h"
#include "match/pairs/pair_kernels.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

struct FuzzScoring {
  FuzzScorer scorer;
  std::optional<double> cutoff;  // as of fuzz_score()
  double multiplier = 1;
  const PairKernels* kernels = nullptr;  // the fastest if null
};

// queries.size() rows of choices.size() elements, of the types and with the rounding of
// fill_scores(). Once `stop` is requested, it returns soon, and what it has written is undefined.
template <typename T>
void fill_fuzz_scores(const FuzzScoring& scoring, const SequenceList& queries,
                      const SequenceList& choices, ThreadPool& pool, std::span<T> out,
                      const std::stop_token& stop = {});

// The same of the pairs of the same places: as many queries as choices and elements.
template <typename T>
void fill_fuzz_pairs(const FuzzScoring& scoring, const SequenceList& queries,
                     const SequenceList& choices, ThreadPool& pool, std::span<T> out,
                     const std::stop_token& stop = {});

}  // namespace hoist::match
