#include "match/index/search.h"

#include "match/index/index_state.h"
#include "match/index/query_symbols.h"
#include "match/index/record_view.h"
#include "match/index/tier_search.h"
#include "match/scan/search.h"

namespace hoist::match {
namespace {

// All patterns that the record engine may have to look at.
Result<std::vector<Candidate>> find_candidates(const TierView& view,
                                               std::span<const uint32_t> state,
                                               const RecordOptions& options,
                                               SegmentSearch& segment_search, RecordView& source) {
  IndexSearchOptions search;
  search.threshold = options.characters ? 0 : options.threshold;
  search.cancelled = options.cancelled;
  TierSearch tiers(view, {&state, 1}, search, segment_search);
  if (Status done = tiers.run(); !done) return tl::unexpected(done.error());
  const std::vector<TierSearch::Found>& found = tiers.found(0);
  source.set_candidates(found.size(),
                        [&](size_t i) { return place_of(*view.tiers, found[i].hit); });
  std::vector<Candidate> candidates(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    candidates[i] = {i, static_cast<uint32_t>(found[i].raw)};
  }
  return candidates;
}

// Of a state of one symbol: the patterns that begin with it, whatever the threshold.
std::vector<Candidate> find_first(const TierView& view, uint32_t symbol, RecordView& source) {
  std::vector<Place> places;
  const auto add = [&](const Place& place) {
    if (place.frequency() != 0) places.push_back(place);
  };
  for (const auto& segment : view.tiers->stable) {
    for (const uint32_t i : patterns_that_begin_with(segment->view(), symbol)) {
      add({segment.get(), nullptr, i});
    }
  }
  for (size_t tier = 0; tier < view.tiers->recent.size(); ++tier) {
    RecentTier& recent = *view.tiers->recent[tier];
    for (uint32_t i = 0; i < view.recent_sizes[tier]; ++i) {
      if (recent.at(i).symbols.front() == symbol) add({nullptr, &recent, i});
    }
  }
  source.set_candidates(places.size(), [&](size_t i) { return places[i]; });
  std::vector<Candidate> candidates(places.size());
  for (size_t i = 0; i < places.size(); ++i) candidates[i] = {i, 1};
  return candidates;
}

}  // namespace

std::string IndexSearchResult::name(const IndexHit& hit) const {
  return place_of(*tiers, hit).name_text();
}

Result<IndexSearchResult> Index::search(const std::vector<std::vector<std::string>>& state,
                                        const IndexSearchOptions& options) const {
  PatternText text = pattern_of(state);
  auto results = search(std::span(&text, 1), options);
  if (!results) return tl::unexpected(results.error());
  return std::move(results->front());
}

Result<std::vector<IndexSearchResult>> Index::search(std::span<PatternText> states,
                                                     const IndexSearchOptions& options) const {
  const TierView view = state_->tiers.view();
  std::vector<std::vector<uint32_t>> symbols;
  for (PatternText& state : states) {
    if (Status ready = normalise(state, state_->settings.sort); !ready) {
      return tl::unexpected(ready.error());
    }
    symbols.push_back(query_symbols(state, *state_->vocabulary));
  }
  const std::vector<std::span<const uint32_t>> queries(symbols.begin(), symbols.end());
  TierSearch search(view, queries, options, *state_->segment_search);
  if (Status done = search.run(); !done) return tl::unexpected(done.error());
  if (Status done = search.rank(); !done) return tl::unexpected(done.error());
  std::vector<IndexSearchResult> results(states.size());
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].tiers = view.tiers;
    results[i].hits.reserve(search.found(i).size());
    for (const TierSearch::Found& found : search.found(i)) results[i].hits.push_back(found.hit);
  }
  return results;
}

Result<Prediction> Index::predict(PatternText& state, const RecordOptions& options) const {
  const TierView view = state_->tiers.view();
  if (Status ready = normalise(state, state_->settings.sort); !ready) {
    return tl::unexpected(ready.error());
  }
  const std::vector<uint32_t> symbols = query_symbols(state, *state_->vocabulary);
  const std::vector<uint16_t> sizes = event_sizes_of(state);
  RecordView source(view, *state_->vocabulary, state_->patterns, *state_->segment_search);
  std::vector<Candidate> candidates;
  if (symbols.empty()) return Prediction();
  if (symbols.size() == 1) {
    candidates = find_first(view, symbols.front(), source);
  } else {
    auto found = find_candidates(view, symbols, options, *state_->segment_search, source);
    if (!found) return tl::unexpected(found.error());
    candidates = std::move(*found);
  }
  return match::predict({symbols, sizes, state.tokens}, candidates, source, options);
}

std::string_view Index::symbol(uint32_t id) const { return state_->vocabulary->symbol(id); }

}  // namespace hoist::match
