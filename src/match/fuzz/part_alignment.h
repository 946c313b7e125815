// The part of a text that is most similar to a sequence, as RapidFuzz's partial_ratio finds it.
#pragma once

#include "match/fuzz/part_counts.h"
#include "match/fuzz/words.h"

namespace hoist::match {

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
// The best score of a needle's parts where they are counted one by one (PartCounts): few of them.
double best_part_score(Symbols needle, Symbols text, double cutoff);

// The shorter sequence with the most similar part, of its length at most, of the longer one.
PartialAlignment partial_ratio_alignment(const Text& a, const Text& b, double cutoff);

}  // namespace hoist::match
