// Segments, states and the oracle's answers for tests of searches, on the CPU and on devices.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "match/oracle/oracle.h"
#include "match/scan/search.h"
#include "match/segment_builder.h"

namespace hoist::match {

using oracle::Symbols;
using States = std::vector<std::span<const uint32_t>>;

inline Symbols random_symbols(std::mt19937_64& random, size_t length, uint32_t vocabulary) {
  Symbols symbols(length);
  for (uint32_t& symbol : symbols) symbol = static_cast<uint32_t>(random() % vocabulary);
  return symbols;
}

inline std::shared_ptr<Segment> segment_of(const std::vector<Symbols>& patterns,
                                           uint32_t vocabulary) {
  std::vector<uint32_t> symbols;
  std::vector<uint64_t> ends;
  for (const Symbols& pattern : patterns) {
    symbols.insert(symbols.end(), pattern.begin(), pattern.end());
    ends.push_back(symbols.size());
  }
  return std::make_shared<Segment>(std::move(*build_segment({symbols, ends, vocabulary})));
}

inline std::vector<Symbols> random_patterns(std::mt19937_64& random, size_t count, size_t longest,
                                            uint32_t vocabulary) {
  std::vector<Symbols> patterns;
  for (size_t i = 0; i < count; ++i) {
    patterns.push_back(random_symbols(random, random() % (longest + 1), vocabulary));
  }
  return patterns;
}

inline uint64_t oracle_raw(Scorer scorer, const Symbols& pattern, const Symbols& state) {
  if (scorer == Scorer::levenshtein) return oracle::levenshtein_distance(pattern, state);
  if (needs_only_lcs(scorer)) return oracle::lcs_length(pattern, state);
  uint64_t matched = 0;
  for (const auto& block :
       oracle::matching_blocks(pattern, state, scorer == Scorer::difflib_autojunk)) {
    matched += block.size;
  }
  return matched;
}

// All matches of a state, from the oracle's counts, in the order that a search promises.
inline std::vector<Match> oracle_matches(const SegmentView& segment,
                                         const std::vector<uint64_t>& raws, size_t m,
                                         const SearchOptions& options) {
  std::vector<Match> matches;
  for (uint32_t i = 0; i < raws.size(); ++i) {
    const uint32_t n = segment.bucket_of(i).length;
    if (!reaches(options.scorer, raws[i], n, m, options.threshold)) continue;
    matches.push_back(
        {i, static_cast<uint32_t>(raws[i]), score_of(options.scorer, raws[i], n, m).normalized});
  }
  if (options.top == 0) return matches;
  std::sort(matches.begin(), matches.end(), [&](const Match& x, const Match& y) {
    if (x.normalized != y.normalized) return x.normalized > y.normalized;
    return segment.name_rank(x.pattern) < segment.name_rank(y.pattern);
  });
  if (matches.size() > options.top) matches.resize(options.top);
  return matches;
}

}  // namespace hoist::match
