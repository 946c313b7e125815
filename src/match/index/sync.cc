// Making segments of recent patterns, merging segments, and saving both.
//
// While a segment is being built from tiers, patterns in these tiers may be learned again or
// removed. The writer notes which (`touched`), and before the new segment takes their place it is
// given what was noted.
#include <algorithm>
#include <bit>
#include <chrono>

#include "base/log.h"
#include "match/index/index_state.h"

namespace hoist::match {
namespace {

// So many segments of like size become one, which is of the next size: the number of segments
// stays logarithmic, and so does how often each pattern is copied.
constexpr int kSizeRatioLog2 = 2;
constexpr size_t kSegmentsOfLikeSize = 4;
// Segments of which more than a quarter was removed are made again.
constexpr uint32_t kRemovedShare = 4;

int size_class(uint32_t live) { return std::bit_width(live) / kSizeRatioLog2; }

using Segments = std::vector<std::shared_ptr<StableSegment>>;

// The segments to be merged next; none where all is well.
Segments due(const Segments& segments) {
  for (const auto& segment : segments) {
    if (segment->size() - segment->live() > segment->size() / kRemovedShare) return {segment};
  }
  for (int wanted = 0; wanted <= size_class(UINT32_MAX); ++wanted) {
    Segments alike;
    for (const auto& segment : segments) {
      if (size_class(segment->live()) == wanted) alike.push_back(segment);
    }
    if (alike.size() >= kSegmentsOfLikeSize) return alike;
  }
  return {};
}

// So many patterns of a bulk are laid out together.
constexpr uint32_t kBulkFold = 1u << 21;

}  // namespace

// Makes a segment of the recent tiers, which an empty one replaces. `syncing` is held. `position`
// becomes that of the moment: everything before it is then in segments.
Status Index::State::fold(Position& at) {
  Merge merge;
  {
    const std::lock_guard lock(writing);
    at = position;
    Tiers next = *tiers.get();
    if (next.recent.size() == 1 && next.recent.back()->size() == 0) return {};
    merge.recent = next.recent;
    next.recent.push_back(std::make_shared<RecentTier>());
    tiers.set(std::move(next));
    merging = true;
    merge.symbols = vocabulary->size();
    if (bulk) merge.metadata.swap(bulk_metadata);
  }
  Status ingested;
  if (store && bulk) ingested = ingest(merge);
  if (!ingested) {
    const std::lock_guard lock(writing);
    merging = false;
    touched.clear();
    return ingested;
  }
  return replace(merge);
}

Status Index::State::merge_where_due() {
  for (;;) {
    Merge merge;
    {
      const std::lock_guard lock(writing);
      merge.stable = due(tiers.get()->stable);
      if (merge.stable.empty()) return {};
      merging = true;
      merge.symbols = vocabulary->size();
    }
    if (Status done = replace(merge); !done) return done;
  }
}

// Puts one segment in the place of what is merged. Without live patterns there is none.
Status Index::State::replace(const Merge& merge) {
  const StableSources sources{{merge.stable.begin(), merge.stable.end()},
                              {merge.recent.begin(), merge.recent.end()}};
  auto built = build_stable(next_segment++, sources, merge.symbols, merge_pool);
  const std::lock_guard lock(writing);
  merging = false;
  const std::vector<Place> changed = std::move(touched);
  touched.clear();
  if (!built) return tl::unexpected(built.error());
  for (const Place& place : changed) {
    if (Status noted = bring_over(place, **built, merge); !noted) return noted;
  }
  Tiers next;
  const auto now = tiers.get();
  const auto keep = [](const auto& all, const auto& merged, auto& kept) {
    for (const auto& tier : all) {
      if (std::find(merged.begin(), merged.end(), tier) == merged.end()) kept.push_back(tier);
    }
  };
  keep(now->stable, merge.stable, next.stable);
  keep(now->recent, merge.recent, next.recent);
  if ((*built)->live() != 0) next.stable.push_back(std::move(*built));
  uint64_t sum = 0;
  for (const auto& segment : next.stable) sum += segment->memory();
  stable_memory = sum;
  tiers.set(std::move(next));
  return {};
}

// What befell a pattern while it was being merged.
Status Index::State::bring_over(const Place& place, StableSegment& built, const Merge& merge) {
  const auto part_of = [](const auto& tiers, const void* tier) {
    return std::any_of(tiers.begin(), tiers.end(), [&](const auto& t) { return t.get() == tier; });
  };
  if (!part_of(merge.stable, place.stable) && !part_of(merge.recent, place.recent)) return {};
  const auto at = built.find_any(place.name(), place.length());
  if (!at) return {};
  built.set_frequency(*at, place.frequency());
  if (auto emotives = place.emotives()) built.set_emotives(*at, std::move(emotives));
  if (!store || !bulk || place.recent == nullptr) return {};
  // It is in the store as it was when it was taken over.
  Change change{Change::Kind::removal, place.serial(), place.length(), place.name_text()};
  if (place.frequency() == 0) return store->remove(position.change++, change);
  change.kind = Change::Kind::update;
  PatternState state{place.frequency(), {}};
  if (const auto emotives = place.emotives()) state.emotives = *emotives;
  return store->update(position.change++, change, state, bulk_metadata[place.serial()]);
}

// The live patterns of a bulk and their symbols, into the store.
Status Index::State::ingest(const Merge& merge) {
  std::vector<std::string_view> symbols;
  for (uint32_t id = bulk_symbols; id < merge.symbols; ++id) {
    symbols.push_back(vocabulary->symbol(id));
  }
  size_t tier = 0;
  uint32_t place = 0;
  std::string name;
  PatternState state;
  Status done = store->ingest({bulk_symbols, symbols}, [&](Store::NewPattern& pattern) {
    for (; tier < merge.recent.size(); ++tier, place = 0) {
      const RecentTier& recent = *merge.recent[tier];
      while (place < recent.size() && recent.at(place).frequency == 0) ++place;
      if (place == recent.size()) continue;
      const RecentPattern& next = recent.at(place);
      name = next.name_text();
      state.frequency = std::max(1u, next.frequency.load());
      const auto emotives = recent.emotives().get(place++);
      state.emotives = emotives ? *emotives : EmotiveList();
      const auto metadata = merge.metadata.find(next.serial);
      pattern = {next.serial, name, next.symbols, next.event_sizes, &state, {}};
      if (metadata != merge.metadata.end()) pattern.metadata = metadata->second;
      return true;
    }
    return false;
  });
  if (done) bulk_symbols = merge.symbols;
  return done;
}

Status Index::State::save(const Position& at) {
  if (snapshot == nullptr || options.read_only) return {};
  Status saved = snapshot->save({settings, at, vocabulary.get(), tiers.get()->stable},
                                [this] { return store ? store->flush_log() : Status(); });
  if (!saved || !store) return saved;
  const std::lock_guard lock(writing);
  return store->forget_changes(at.change);
}

Status Index::State::sync() {
  const std::lock_guard lock(syncing);
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  Position at;
  Status done = fold(at);
  last_fold_seconds = seconds();
  if (done) done = merge_where_due();
  if (done) done = save(at);
  last_sync_seconds = seconds();
  if (done) ++syncs;
  return done;
}

void Index::State::run_syncs() {
  const bool by_time = options.sync_interval.count() != 0;
  std::unique_lock lock(waking);
  while (!stop) {
    const auto woken = [this] { return stop || sync_wanted; };
    if (by_time) {
      wake.wait_for(lock, options.sync_interval, woken);
    } else {
      wake.wait(lock, woken);
    }
    if (stop) return;
    sync_wanted = false;
    lock.unlock();
    Status done;
    if (tiers.get()->recent.back()->size() != 0) done = sync();
    if (!done) log(LogLevel::warn, "{}: the next sync tries again", done.error().message);
    lock.lock();
    last_sync_error = done ? std::string() : done.error().message;
  }
}

Status Index::sync() {
  if (state_->options.read_only) {
    return fail(ErrorCode::unavailable, "the index is open read-only: open it for writing");
  }
  return state_->sync();
}

Status Index::begin_bulk() {
  if (state_->options.read_only) {
    return fail(ErrorCode::unavailable, "the index is open read-only: open it for writing");
  }
  {
    // The store has what is recent until now; ingest() must not meet it.
    const std::lock_guard lock(state_->syncing);
    Position at;
    if (Status done = state_->fold(at); !done) return done;
  }
  const std::lock_guard lock(state_->writing);
  state_->bulk = true;
  state_->bulk_symbols = state_->vocabulary->size();
  return {};
}

Status Index::State::fold_bulk() {
  if (tiers.get()->recent.back()->size() < kBulkFold) return {};
  const std::lock_guard lock(syncing);
  Position at;
  return fold(at);
}

Status Index::end_bulk() {
  if (Status done = state_->sync(); !done) return done;
  const std::lock_guard lock(state_->writing);
  state_->bulk = false;
  return {};
}

}  // namespace hoist::match
