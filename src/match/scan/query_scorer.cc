#include "match/scan/query_scorer.h"

#include "match/score/edit_distance.h"
#include "match/score/opcodes.h"

namespace hoist::match {
namespace {

std::variant<MatchMasks, BlockMatcher> prepare(Scorer scorer, std::span<const uint32_t> query) {
  if (scorer == Scorer::difflib || scorer == Scorer::difflib_autojunk) {
    return BlockMatcher(query, scorer == Scorer::difflib_autojunk);
  }
  return MatchMasks(query);
}

}  // namespace

QueryScorer::QueryScorer(Scorer scorer, std::span<const uint32_t> query)
    : scorer_(scorer), query_(prepare(scorer, query)) {}

std::optional<uint64_t> QueryScorer::raw(std::span<const uint32_t> pattern, Scratch& scratch,
                                         const std::stop_token& stop) const {
  if (const auto* masks = std::get_if<MatchMasks>(&query_)) {
    const uint64_t raw = scorer_ == Scorer::levenshtein
                             ? levenshtein_distance(*masks, pattern, stop)
                             : lcs_length(*masks, pattern, stop);
    if (stop.stop_requested()) return {};
    return raw;
  }
  const BlockMatcher& matcher = std::get<BlockMatcher>(query_);
  if (!matcher.find(pattern, scratch.blocks, scratch.matcher, stop)) return {};
  return matched_symbols(scratch.blocks);
}

}  // namespace hoist::match
