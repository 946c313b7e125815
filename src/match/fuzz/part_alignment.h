// The part of a text that is most similar to a sequence, as RapidFuzz's partial_ratio finds it.
#pragma once

#include "match/fuzz/part_counts.h"
#include "match/fuzz/words.h"
#include "match/pairs/pair_scorer.h"

namespace hoist::match {

inline constexpr PairScorer kRatio = {PairScorer::Family::indel,
                                      PairScorer::Value::normalized_similarity, true};

struct PartialAlignment {
  double score = 0;
  uint64_t source_begin = 0;
  uint64_t source_end = 0;
  uint64_t destination_begin = 0;
  uint64_t destination_end = 0;
};

// The best score of a needle's parts, in percent, by what they have in common; 0 beyond the
// cut-off.
double best_part_score(PartCounts& counts, size_t needle, size_t text, double cutoff);

// The shorter sequence with the most similar part, of its length at most, of the longer one.
PartialAlignment partial_ratio_alignment(const Text& a, const Text& b, double cutoff);

}  // namespace hoist::match
