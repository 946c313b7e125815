#include "match/index/search.h"

#include "match/index/index_state.h"
#include "match/index/query_symbols.h"
#include "match/index/record_view.h"
#include "match/index/tier_search.h"
#include "match/scan/search.h"

namespace hoist::match {
namespace {

// All patterns that the record engine may have to look at.
Result<UninitializedArray<Candidate>> find_candidates(const TierView& view,
                                                      std::span<const uint32_t> state,
                                                      const RecordOptions& options,
                                                      SegmentSearch& segment_search) {
  IndexSearchOptions search;
  search.threshold = options.characters ? 0 : options.threshold;
  search.stop = options.stop;
  TierSearch tiers(view, {&state, 1}, search, segment_search);
  if (Status done = tiers.run(); !done) return done.error();
  return tiers.candidates(0);
}

// A state of one symbol finds the patterns that begin with it, whatever the threshold.
std::vector<Candidate> find_first(const TierView& view, uint32_t symbol) {
  std::vector<Candidate> candidates;
  const auto add = [&](uint32_t tier, uint32_t place, uint32_t frequency) {
    if (frequency != 0) candidates.push_back({RecordView::candidate(tier, place), 1});
  };
  const auto stable = static_cast<uint32_t>(view.tiers->stable.size());
  for (uint32_t tier = 0; tier < stable; ++tier) {
    const StableSegment& segment = *view.tiers->stable[tier];
    for (const uint32_t i : patterns_that_begin_with(segment.view(), symbol)) {
      add(tier, i, segment.frequency(i));
    }
  }
  for (uint32_t tier = 0; tier < view.tiers->recent.size(); ++tier) {
    const RecentTier& recent = *view.tiers->recent[tier];
    for (uint32_t i = 0; i < view.recent_sizes[tier]; ++i) {
      const RecentPattern& pattern = recent.at(i);
      if (pattern.symbols.front() != symbol) continue;
      add(stable + tier, i, pattern.frequency.load(std::memory_order_relaxed));
    }
  }
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
  if (!results) return results.error();
  return std::move(results->front());
}

Result<std::vector<IndexSearchResult>> Index::search(std::span<PatternText> states,
                                                     const IndexSearchOptions& options) const {
  const TierView view = state_->tiers.view();
  std::vector<std::vector<uint32_t>> symbols;
  for (PatternText& state : states) {
    if (Status ready = normalise(state, state_->settings.sort); !ready) {
      return ready.error();
    }
    symbols.push_back(query_symbols(state, *state_->vocabulary));
  }
  const std::vector<std::span<const uint32_t>> queries(symbols.begin(), symbols.end());
  TierSearch search(view, queries, options, *state_->segment_search);
  if (Status done = search.run(); !done) return done.error();
  if (Status done = search.rank(); !done) return done.error();
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
    return ready.error();
  }
  const std::vector<uint32_t> symbols = query_symbols(state, *state_->vocabulary);
  const std::vector<uint16_t> sizes = event_sizes_of(state);
  const RecordView source(view, *state_->vocabulary, state_->patterns, *state_->segment_search);
  const StateView wanted = {symbols, sizes, state.tokens};
  if (symbols.empty()) return Prediction();
  if (symbols.size() == 1) {
    return match::predict(wanted, find_first(view, symbols.front()), source, options);
  }
  const auto candidates = find_candidates(view, symbols, options, *state_->segment_search);
  if (!candidates) return candidates.error();
  return match::predict(wanted, candidates->span(), source, options);
}

Result<std::vector<Prediction>> Index::predict(std::span<PatternText> states,
                                               const RecordOptions& options) const {
  const TierView view = state_->tiers.view();
  std::vector<std::vector<uint32_t>> symbols;
  std::vector<std::span<const uint32_t>> scanned;  // of those that are searched for together
  std::vector<size_t> places(states.size());       // in that list
  for (size_t i = 0; i < states.size(); ++i) {
    if (Status ready = normalise(states[i], state_->settings.sort); !ready) return ready.error();
    symbols.push_back(query_symbols(states[i], *state_->vocabulary));
    places[i] = scanned.size();
    if (symbols[i].size() > 1) scanned.emplace_back(symbols[i]);
  }
  IndexSearchOptions search;
  search.threshold = options.characters ? 0 : options.threshold;
  search.stop = options.stop;
  TierSearch tiers(view, scanned, search, *state_->segment_search);
  if (Status done = tiers.run(); !done) return done.error();

  const RecordView source(view, *state_->vocabulary, state_->patterns, *state_->segment_search);
  std::vector<Result<Prediction>> made(states.size(), Prediction());
  ThreadPool::process().parallel_for(states.size(), [&](size_t i) {
    const std::vector<uint16_t> sizes = event_sizes_of(states[i]);
    const StateView wanted = {symbols[i], sizes, states[i].tokens};
    if (symbols[i].size() == 1) {
      made[i] = match::predict(wanted, find_first(view, symbols[i].front()), source, options);
    } else if (!symbols[i].empty()) {
      made[i] = match::predict(wanted, tiers.candidates(places[i]).span(), source, options);
    }
  });
  std::vector<Prediction> predictions;
  for (Result<Prediction>& one : made) {
    if (!one) return one.error();
    predictions.push_back(*std::move(one));
  }
  return predictions;
}

std::string_view Index::symbol(uint32_t id) const { return state_->vocabulary->symbol(id); }

}  // namespace hoist::match
