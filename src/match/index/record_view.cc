#include "match/index/record_view.h"

#include <algorithm>

#include "base/chunks.h"
#include "match/index/tier_search.h"

namespace hoist::match {
namespace {

constexpr size_t kPlacesPerTask = 1 << 12;

}  // namespace

Place RecordView::place_of(uint64_t candidate) const {
  const auto tier = static_cast<uint32_t>(candidate >> 32);
  return match::place_of(*view_.tiers, {0, 0, 0, tier, static_cast<uint32_t>(candidate)});
}

RecordSource::Pattern RecordView::pattern(uint64_t candidate,
                                          std::vector<uint32_t>& scratch) const {
  const Place place = place_of(candidate);
  if (place.stable == nullptr) {
    const RecentPattern& recent = place.recent->at(place.index);
    return {recent.symbols, recent.event_sizes};
  }
  place.read_symbols(scratch);
  return {scratch, place.event_sizes()};
}

RecordSource::Shape RecordView::shape(uint64_t candidate) const {
  const Place place = place_of(candidate);
  return {place.length(), place.event_sizes()};
}

// A segment's candidates together, in the order in which they come.
std::vector<BlockSummary> RecordView::summarize_blocks(std::span<const uint32_t> state,
                                                       std::span<const Candidate> candidates,
                                                       const std::stop_token& stop) const {
  std::vector<BlockSummary> summaries;
  if (!segment_search_.finds_blocks(candidates.size())) return summaries;
  for (uint32_t tier = 0; tier < view_.tiers->stable.size(); ++tier) {
    const auto& segment = view_.tiers->stable[tier];
    if (segment->size() < kLargeSegment) continue;
    const std::vector<uint32_t> own =
        parallel_select(ThreadPool::process(), static_cast<uint32_t>(candidates.size()),
                        kPlacesPerTask, [&](size_t i) { return candidates[i].id >> 32 == tier; });
    std::vector<uint32_t> patterns(own.size());
    for (size_t i = 0; i < own.size(); ++i) {
      patterns[i] = static_cast<uint32_t>(candidates[own[i]].id);
    }
    std::vector<BlockSummary> found(own.size());
    if (!segment_search_.summarize_blocks(segment, segment->view(), state, patterns, stop, found)) {
      continue;
    }
    if (own.size() == candidates.size()) return found;
    summaries.resize(candidates.size());
    for (size_t i = 0; i < own.size(); ++i) summaries[own[i]] = found[i];
  }
  return summaries;
}

std::string RecordView::name(uint64_t candidate) const { return place_of(candidate).name_text(); }

bool RecordView::named_before(uint64_t x, uint64_t y) const {
  return compare(place_of(x).name(), place_of(y).name()) < 0;
}

// One that is being deleted meanwhile counts as learned once.
uint64_t RecordView::frequency(uint64_t candidate) const {
  return std::max(1u, place_of(candidate).frequency());
}

std::vector<Emotive> RecordView::emotives(uint64_t candidate) const {
  std::vector<Emotive> all;
  const auto lists = place_of(candidate).emotives();
  if (lists == nullptr) return all;
  for (const Emotives& entry : *lists) {
    for (const auto& [key, value] : entry) all.push_back({key, value});
  }
  return all;
}

uint64_t RecordView::patterns_with(uint32_t symbol) const {
  return symbol < vocabulary_.size() ? vocabulary_.patterns_with(symbol) : 0;
}

uint64_t RecordView::occurrences(uint32_t symbol) const {
  return symbol < vocabulary_.size() ? vocabulary_.occurrences(symbol) : 0;
}

double RecordView::affinity(uint32_t symbol, std::string_view emotive) const {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = affinities_.try_emplace(std::string(emotive));
  if (is_new) at->second = count_affinities(emotive);
  const auto found = at->second.find(symbol);
  return found == at->second.end() ? 0.0 : found->second;
}

RecordView::Affinities RecordView::count_affinities(std::string_view emotive) const {
  Affinities sums;
  std::vector<uint32_t> symbols;
  const auto count = [&](const Place& place) {
    const auto lists = place.frequency() == 0 ? nullptr : place.emotives();
    if (lists == nullptr) return;
    double sum = 0;
    for (const Emotives& entry : *lists) {
      for (const auto& [key, value] : entry) sum += key == emotive ? value : 0;
    }
    place.read_symbols(symbols);
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    for (const uint32_t symbol : symbols) sums[symbol] += sum;
  };
  for (const auto& segment : view_.tiers->stable) {
    for (uint32_t i = 0; segment->emotives().any() && i < segment->size(); ++i) {
      count({segment.get(), nullptr, i});
    }
  }
  for (size_t tier = 0; tier < view_.tiers->recent.size(); ++tier) {
    const auto& recent = view_.tiers->recent[tier];
    for (uint32_t i = 0; recent->emotives().any() && i < view_.recent_sizes[tier]; ++i) {
      count({nullptr, recent.get(), i});
    }
  }
  return sums;
}

std::string_view RecordView::text(uint32_t symbol) const {
  return symbol < vocabulary_.size() ? vocabulary_.symbol(symbol) : std::string_view();
}

// The reference adds to its sum of frequencies only when a pattern is new.
RecordSource::Totals RecordView::totals() const {
  return {patterns_, patterns_, vocabulary_.size()};
}

}  // namespace hoist::match
