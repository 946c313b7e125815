// Exact search of one segment: every pattern whose score reaches a threshold, or the best ones. No
// pattern is lost to a filter, and a score does not depend on the path that found it.
//
//   SearchOptions options;
//   options.threshold = 0.5;
//   auto found = search(segment.view(), {{state}}, options);  // found->at(0): matches of `state`
//
// One pass over the segment serves all queries. For each bucket of equal lengths the threshold
// becomes the least LCS that can reach it (least_lcs), and buckets in which none can are skipped.
// In segments of 16-bit symbols the vector kernels (tile_kernels.h) take 32 patterns at once:
// queries of at most 16 symbols get their LCS right away, longer ones
// first count each pattern's symbols that the query has, which bounds the LCS. Scorers that are not
// a function of the LCS look again at the patterns that are left over.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "match/scan/tile_kernels.h"
#include "match/score/scorer.h"
#include "match/segment_view.h"

namespace hoist::match {

struct SearchOptions {
  Scorer scorer = Scorer::kato;
  double threshold = 0.0;  // of the normalised score; at 0 every pattern matches
  // The best so many, best first, equal ones by name rank; 0: all, in order of their index.
  size_t top = 0;
  // More matches than this, of all queries together, are refused: `exhausted`. 16 bytes each.
  size_t max_matches = size_t{1} << 28;
  std::stop_token stop = {};             // asked every few microseconds: `cancelled`
  const TileKernels* kernels = nullptr;  // the fastest if null
};

struct Match {
  uint32_t pattern;  // index in the segment
  uint32_t raw;      // what score_of takes: the LCS, the distance, or the symbols in blocks
  double normalized;

  bool operator==(const Match&) const = default;
};

// `queries` are sequences of vocabulary ids; those that the segment does not have match nothing.
// Result i belongs to query i. `invalid_argument` for a query longer than kMaxPatternLength.
// The view must have passed check_segment() if it comes from bytes that are not trusted; `corrupt`
// for a symbol beyond its dictionary in a pattern that must be read.
Result<std::vector<std::vector<Match>>> search(const SegmentView& segment,
                                               std::span<const std::span<const uint32_t>> queries,
                                               const SearchOptions& options,
                                               ThreadPool& pool = ThreadPool::process());

// Indices of all patterns whose first symbol is this one, ascending.
std::vector<uint32_t> patterns_that_begin_with(const SegmentView& segment, uint32_t symbol);

}  // namespace hoist::match
