// One query beside any pattern, one at a time: what a search runs on the patterns that a scan
// leaves over, and on patterns that lie in no segment.
//
//   const QueryScorer query(Scorer::levenshtein, state);
//   QueryScorer::Scratch scratch;
//   uint64_t distance = *query.raw(pattern, scratch);
//   Score score = score_of(Scorer::levenshtein, distance, pattern.size(), state.size());
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <variant>
#include <vector>

#include "match/score/blocks.h"
#include "match/score/match_masks.h"
#include "match/score/scorer.h"

namespace hoist::match {

// Thread-safe; each thread needs its own scratch.
class QueryScorer {
 public:
  struct Scratch {
    BlockMatcher::Scratch matcher;
    std::vector<Block> blocks;
  };

  // Symbols are compared as they are, whatever numbering they come from. `query` must outlive it.
  // difflib takes the query as its second sequence.
  QueryScorer(Scorer scorer, std::span<const uint32_t> query);

  // What score_of takes; nothing where `stop` is requested.
  std::optional<uint64_t> raw(std::span<const uint32_t> pattern, Scratch& scratch,
                              const std::stop_token& stop = {}) const;

 private:
  Scorer scorer_;
  std::variant<MatchMasks, BlockMatcher> query_;
};

}  // namespace hoist::match
