// The choices that are most like a query, by any scorer of RapidFuzz.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/threads.h"
#include "match/fuzz/fuzz_scorer.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

struct Match {
  double score;
  size_t place;
};

struct BestMatchOptions {
  std::optional<double> cutoff = {};  // as of fuzz_score()
  size_t limit = 5;
  std::span<const size_t> missing = {};  // places of choices that are none, ascending
  std::stop_token stop = {};
};

// The `limit` best that reach the cut-off, best first, of equally good ones the first first. What
// is worse than as many others need not be scored to the end: every thread tells the others how
// good a score must be. Once a stop is requested, it returns soon, and what it returns is
// undefined.
std::vector<Match> best_matches(const FuzzScorer& scorer, const Sequence& query,
                                const SequenceList& choices, ThreadPool& pool,
                                const BestMatchOptions& options = {});

}  // namespace hoist::match
