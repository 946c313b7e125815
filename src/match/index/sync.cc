// Making segments of recent patterns, and saving segments. They are merged elsewhere (merge.cc).
#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "match/index/index_state.h"

namespace hoist::match {
namespace {

// So many patterns of a bulk are laid out together.
constexpr uint32_t kBulkFold = 1u << 21;

}  // namespace

// Makes a segment of the recent tiers, which an empty one replaces. `syncing` is held. `at` becomes
// the position of the moment: everything before it is then in segments.
Status Index::State::fold(Position& at) {
  auto empty = std::make_shared<RecentTier>();
  Merge merge;
  bool in_bulk = false;
  {
    const std::lock_guard lock(writing);
    at = position;
    in_bulk = bulk;
    Tiers next = *tiers.get();
    if (next.recent.size() == 1 && next.recent.back()->size() == 0) {
      folded = at;
      return {};
    }
    merge.recent = next.recent;
    next.recent.push_back(std::move(empty));
    tiers.set(std::move(next));
    begin(merge);
    if (in_bulk) merge.metadata.swap(bulk_metadata);
  }
  Status done;
  if (store && in_bulk) done = ingest(merge);
  if (store && in_bulk && done) done = ingested(merge, at);
  if (!done) {
    const std::lock_guard lock(writing);
    end(merge);
    return done;
  }
  done = replace(merge);
  if (!done) return done;
  const std::lock_guard lock(writing);
  folded = at;
  return {};
}

// As soon as there are enough, so that queries find most patterns laid out.
Status Index::State::fold_recent() {
  const std::lock_guard lock(syncing);
  if (bulk || tiers.get()->recent.back()->size() < options.recent_patterns) return {};
  Position at;
  if (Status done = fold(at); !done) return done;
  want_merges();
  return {};
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
  return store->ingest({bulk_symbols, symbols}, [&](Store::NewPattern& pattern) {
    for (; tier < merge.recent.size(); ++tier, place = 0) {
      const RecentTier& recent = *merge.recent[tier];
      // Those from before the bulk are there.
      while (place < recent.size() &&
             (recent.at(place).frequency == 0 || recent.at(place).serial < bulk_serial)) {
        ++place;
      }
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
}

// From now on changes of these patterns are written at once; here are those that ingest() may have
// missed.
Status Index::State::ingested(const Merge& merge, const Position& at) {
  const std::lock_guard lock(writing);
  bulk_symbols = merge.symbols;
  bulk_serial = at.serial;
  for (const Place& place : merge.touched) {
    Change change{Change::Kind::removal, place.serial(), place.length(), place.name_text()};
    Status written;
    if (place.frequency() == 0) {
      written = store->remove(position.change, change);
    } else {
      change.kind = Change::Kind::update;
      PatternState state{place.frequency(), {}};
      if (const auto emotives = place.emotives()) state.emotives = *emotives;
      const auto metadata = bulk_metadata.find(place.serial());
      written = store->update(position.change, change, state,
                              metadata == bulk_metadata.end() ? std::string() : metadata->second);
    }
    if (!written) return written;
    ++position.change;
    bulk_metadata.erase(place.serial());
  }
  return {};
}

Status Index::State::save(const Position& at) {
  if (options.read_only) return {};
  merged_unsaved = false;
  if (snapshot != nullptr) {
    // A symbol that only the snapshot had would be missing in the store for ever.
    const uint32_t symbols = store && bulk ? bulk_symbols : UINT32_MAX;
    Status done = snapshot->save({settings, at, vocabulary.get(), tiers.get()->stable, symbols},
                                 [this] { return store ? store->flush_log() : Status(); });
    if (done && ledger) done = ledger->saved(snapshot->generation());
    if (!done) return done;
    snapshot_is_lost = false;
  }
  const std::lock_guard lock(writing);
  saved = at;
  return store ? store->forget_changes(at.change) : Status();
}

Status Index::State::sync(bool merged) {
  const std::lock_guard lock(syncing);
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  Position at;
  Status done = fold(at);
  sync_begun_serial = at.serial;
  last_fold_seconds = seconds();
  if (!done) return done;
  want_merges();
  if (merged) await_merges();
  send_again();
  done = save(at);
  last_sync_seconds = seconds();
  if (done) ++syncs;
  return done;
}

// Segments that did not fit into a GPU's memory when they were made.
void Index::State::send_again() const {
  segment_search->expect_memory();
  const auto now = tiers.get();
  for (const auto& segment : now->stable) hold_on_gpu(segment);
}

// What the last sync could not save of the merges that followed it.
Status Index::State::save_merged() {
  const std::lock_guard lock(syncing);
  return merged_unsaved ? save(folded) : Status();
}

// The writer's.
void Index::State::wake_if_due() {
  if (options.recent_patterns != 0 &&
      tiers.get()->recent.back()->size() >= options.recent_patterns) {
    wake_for(fold_wanted);
  }
  if (options.sync_patterns != 0 && position.serial - sync_begun_serial >= options.sync_patterns) {
    wake_for(sync_wanted);
  }
}

void Index::State::wake_for(std::atomic<bool>& wanted) {
  if (wanted.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(waking);
  wanted = true;
  wake.notify_all();
}

void Index::State::run_syncs() {
  const bool by_time = options.sync_interval.count() != 0;
  std::unique_lock lock(waking);
  auto due = std::chrono::steady_clock::now() + options.sync_interval;
  while (!stop) {
    const auto woken = [this] { return stop || sync_wanted || fold_wanted; };
    if (by_time) {
      wake.wait_until(lock, due, woken);
    } else {
      wake.wait(lock, woken);
    }
    if (stop) return;
    const bool fold_first = fold_wanted && !sync_wanted;
    (fold_first ? fold_wanted : sync_wanted) = false;
    lock.unlock();
    Status done;
    if (fold_first) {
      done = fold_recent();
    } else {
      bool is_saved = false;
      {
        const std::lock_guard writer(writing);
        is_saved = position == saved && !snapshot_is_lost;
      }
      if (!is_saved) done = sync(false);
      due = std::chrono::steady_clock::now() + options.sync_interval;
    }
    if (!done) log(LogLevel::warn, "{}: the next sync tries again", done.error().message);
    lock.lock();
    if (!fold_first) last_sync_error = done ? std::string() : done.error().message;
  }
}

Status Index::sync() {
  if (Status owned = state_->check_process(); !owned) return owned;
  if (state_->options.read_only) {
    return fail(ErrorCode::unavailable, "the index is open read-only: open it for writing");
  }
  return state_->sync(false);
}

Status Index::begin_bulk() {
  if (Status owned = state_->check_process(); !owned) return owned;
  if (state_->options.read_only) {
    return fail(ErrorCode::unavailable, "the index is open read-only: open it for writing");
  }
  State& own = *state_;
  const std::lock_guard one(own.syncing);
  const std::lock_guard lock(own.writing);
  if (own.bulk) return {};
  own.bulk = true;
  // The store has what was learned until now.
  own.bulk_symbols = own.vocabulary->size();
  own.bulk_serial = own.position.serial;
  return {};
}

Status Index::State::fold_bulk() {
  if (tiers.get()->recent.back()->size() < kBulkFold) return {};
  const std::lock_guard lock(syncing);
  Position at;
  if (Status done = fold(at); !done) return done;
  want_merges();
  return {};
}

Status Index::end_bulk() {
  if (Status owned = state_->check_process(); !owned) return owned;
  if (state_->options.read_only) {
    return fail(ErrorCode::unavailable, "the index is open read-only: open it for writing");
  }
  // What others learned between the sync and the end would be neither in the store nor in the
  // snapshot: they wait.
  struct Ending {
    explicit Ending(State& state) : own(state) {
      const std::lock_guard lock(own.writing);
      ++own.bulk_endings;
    }
    ~Ending() {
      const std::lock_guard lock(own.writing);
      if (is_done) own.bulk = false;
      --own.bulk_endings;
      own.bulk_ended.notify_all();
    }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    State& own;
    bool is_done = false;
  };
  Ending ending(*state_);
  Status done = state_->sync(true);
  ending.is_done = done.has_value();
  return done;
}

}  // namespace hoist::match
