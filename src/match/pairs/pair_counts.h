// What the scorers count (match/score/scorer.h) of all pairs of two lists of sequences: the length
// of the longest common subsequence, or the Levenshtein distance.
//
//   count_pairs(PairCount::lcs, queries, choices, pool,
//               [&](const PairRun& run) { … run.counts[i] of pair (run.fixed, run.first + i) … });
//
// Exact for every length. Both counts are bit-parallel (match/score/edit_distance.h says after
// whom): a state of as many bits as one sequence has symbols goes through the symbols of the other.
// Here states of 8, 16, 32 or 64 bits of many short sequences lie side by side in vector
// registers (pair_kernels.h), so that one pass over a sequence serves all of them; longer
// sequences take several words each, unless only those are of interest that are some edits apart at
// most (limited_counts.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>

#include "base/threads.h"
#include "match/pairs/pair_kernels.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

// Counts of one sequence of one list with some that follow one another in the other list.
struct PairRun {
  bool is_query;   // the one is a query, the others are choices; else the other way round
  uint32_t fixed;  // the one
  uint32_t first;  // of the others
  std::span<const uint32_t> counts;
};

struct PairOptions {
  // The last count that is of interest for a query and a choice of these lengths: the least LCS
  // (one more than fits: none), or the largest distance (negative: none). Long sequences beyond it
  // may be given any count beyond it that their lengths allow; whether they are is known sooner.
  // Never asked if empty; the same for the same lengths.
  std::function<int64_t(uint32_t query, uint32_t choice)> limit = {};
  std::stop_token stop = {};
  const PairKernels* kernels = nullptr;  // the fastest if null
};

// Fewer than 2^32 sequences in a list, of fewer than 2^31 symbols. Every pair is in one run, in any
// order; `take` is called from the pool's threads. Once `stop` is requested, it returns soon, and
// which pairs were in runs, and with what counts, is undefined. Of one list, mostly the shorter
// one, all symbols are read; of the other those that must be. Memory: 4 bytes a symbol of the one
// list, and for each thread at most 16 MiB, 4 bytes a symbol of the longest sequence, and 4 bytes
// for each distinct symbol.
void count_pairs(PairCount count, const SequenceList& queries, const SequenceList& choices,
                 ThreadPool& pool, const std::function<void(const PairRun&)>& take,
                 const PairOptions& options = {});

}  // namespace hoist::match
