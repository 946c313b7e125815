#include <fmt/core.h>

#include <filesystem>

#include "match/index/index_state.h"
#include "match/index/snapshot.h"

namespace hoist::match {
namespace {

Error differ(const std::string& path, std::string_view what) {
  return fail(ErrorCode::corrupt,
              fmt::format("memory and store disagree about {} ({}): `hoist match repair {} -o NEW` "
                          "saves what is whole",
                          what, path, path));
}

}  // namespace

std::vector<SymbolStats> Index::symbols() const {
  const Vocabulary& vocabulary = *state_->vocabulary;
  std::vector<SymbolStats> list;
  const uint32_t size = vocabulary.size();
  list.reserve(size);
  for (uint32_t id = 0; id < size; ++id) {
    list.push_back(
        {vocabulary.symbol(id), vocabulary.occurrences(id), vocabulary.patterns_with(id)});
  }
  return list;
}

IndexStats Index::stats() const {
  const State& own = *state_;
  IndexStats stats;
  const auto now = own.tiers.get();
  for (const auto& segment : now->stable) {
    stats.segments.push_back(segment->live());
    stats.removed_patterns += segment->size() - segment->live();
  }
  for (const auto& recent : now->recent) stats.recent_patterns += recent->size();
  stats.patterns = own.patterns;
  stats.frequencies = own.frequencies;
  stats.symbols = own.vocabulary->size();
  stats.memory = own.memory();
  stats.syncs = own.syncs;
  stats.last_sync_seconds = own.last_sync_seconds;
  stats.last_fold_seconds = own.last_fold_seconds;
  stats.settings = own.settings;
  stats.search_only = own.search_only;
  stats.search_device = own.segment_search->describe();
  stats.device_memory = own.segment_search->held();
  if (!own.owner.is_current()) {  // nobody changes it, and the message may be half written
    stats.position = own.position;
    return stats;
  }
  {
    const std::lock_guard lock(own.writing);
    stats.position = own.position;
  }
  const std::lock_guard lock(own.waking);
  stats.last_sync_error = own.last_sync_error;
  return stats;
}

bool Index::takes_writes() const { return !state_->store || state_->store->takes_writes(); }

uint64_t Index::memory() const { return state_->memory(); }

Result<uint64_t> Index::verify() const {
  const State& own = *state_;
  if (own.store && !own.owner.is_current()) return own.foreign_store().error();
  const std::string snapshot = own.path + "/snapshot.hoist";
  if (own.snapshot_is_lost) {
    return fail(ErrorCode::corrupt,
                fmt::format("damaged snapshot ({}): `hoist match sync` makes it "
                            "again from the store",
                            snapshot));
  }
  if (!own.path.empty() && std::filesystem::exists(snapshot)) {
    if (Status good = check_snapshot(snapshot); !good) {
      Error error = good.error();
      error.message +=
          own.store ? ": `hoist match sync` makes it again from the store" : own.repair_advice();
      return error;
    }
  }
  if (!own.store) return own.patterns.load();
  if (Status whole = own.store->check_tables(); !whole) return whole.error();
  const std::lock_guard lock(own.writing);
  uint64_t compared = 0;
  std::vector<uint32_t> symbols;
  Status same = own.store->read_patterns(0, [&](StoredPattern&& stored) -> Status {
    const auto length = static_cast<uint32_t>(stored.symbols.size());
    const auto place = own.find(NameKey(stored.name), length);
    if (!place || place->serial() != stored.serial || place->length() != length) {
      return differ(own.path, fmt::format("pattern {}", stored.name));
    }
    place->read_symbols(symbols);
    const auto sizes = place->event_sizes();
    const auto emotives = place->emotives();
    if (symbols != stored.symbols || place->frequency() != stored.state.frequency ||
        !std::equal(sizes.begin(), sizes.end(), stored.event_sizes.begin(),
                    stored.event_sizes.end()) ||
        (emotives ? *emotives : EmotiveList()) != stored.state.emotives) {
      return differ(own.path, fmt::format("pattern {}", stored.name));
    }
    ++compared;
    return {};
  });
  if (!same) return same.error();
  if (compared != own.patterns) {
    return differ(own.path, fmt::format("{} patterns", own.patterns.load() - compared));
  }
  return compared;
}

}  // namespace hoist::match
