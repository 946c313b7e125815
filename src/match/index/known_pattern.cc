#include "match/index/index_state.h"
#include "match/index/tier_search.h"

namespace hoist::match {
namespace {

std::vector<std::vector<std::string_view>> events_of(const Place& place,
                                                     const Vocabulary& vocabulary) {
  std::vector<uint32_t> symbols;
  place.read_symbols(symbols);
  std::vector<std::vector<std::string_view>> events;
  size_t at = 0;
  for (const uint16_t size : place.event_sizes()) {
    std::vector<std::string_view>& event = events.emplace_back();
    for (const size_t end = at + size; at < end; ++at) {
      event.push_back(vocabulary.symbol(symbols[at]));
    }
  }
  return events;
}

}  // namespace

Result<KnownPattern> Index::pattern(std::string_view name) const {
  KnownPattern known;
  auto metadata = this->metadata(name);
  if (!metadata) return metadata.error();
  known.metadata = std::move(*metadata);
  std::unique_lock lock(state_->writing, std::defer_lock);
  const bool is_owner = state_->owner.is_current();
  if (is_owner) lock.lock();
  const auto place = is_owner ? state_->find(NameKey(name)) : state_->find_seen(NameKey(name));
  if (!place) return no_pattern(name);
  known.events = events_of(*place, *state_->vocabulary);
  known.frequency = place->frequency();
  if (const auto emotives = place->emotives()) known.emotives = *emotives;
  return known;
}

void Index::visit(const std::function<bool(const VisitedPattern& pattern)>& visit) const {
  const TierView view = state_->tiers.view();
  const auto show = [&](const Place& place) {
    VisitedPattern pattern;
    pattern.frequency = place.frequency();
    if (pattern.frequency == 0) return true;
    pattern.name = place.name_text();
    pattern.events = events_of(place, *state_->vocabulary);
    pattern.emotives = place.emotives();
    return visit(pattern);
  };
  for (const auto& segment : view.tiers->stable) {
    for (uint32_t i = 0; i < segment->size(); ++i) {
      if (!show({segment.get(), nullptr, i})) return;
    }
  }
  for (size_t tier = 0; tier < view.tiers->recent.size(); ++tier) {
    for (uint32_t i = 0; i < view.recent_sizes[tier]; ++i) {
      if (!show({nullptr, view.tiers->recent[tier].get(), i})) return;
    }
  }
}

std::vector<std::vector<std::string_view>> Index::events(const IndexSearchResult& result,
                                                         const IndexHit& hit) const {
  return events_of(place_of(*result.tiers, hit), *state_->vocabulary);
}

}  // namespace hoist::match
