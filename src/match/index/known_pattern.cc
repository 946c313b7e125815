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

std::vector<std::vector<std::string_view>> Index::events(const IndexSearchResult& result,
                                                         const IndexHit& hit) const {
  return events_of(place_of(*result.tiers, hit), *state_->vocabulary);
}

}  // namespace hoist::match
