#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/child_exit.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "match/index/index_state.h"
#include "match/index/tier_search.h"

namespace hoist::match {
namespace {

// Replayed patterns are laid out as they come: a store without a snapshot may hold very many.
constexpr uint32_t kReplayFold = 1u << 22;

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_no_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

}  // namespace

Result<std::unique_ptr<Index>> Index::open(const std::string& path, const IndexOptions& options) {
  auto state = std::make_unique<State>(path, options);
  if (Status opened = state->open(); !opened) return opened.error();
  if (state->store) {  // RocksDB's handlers are registered, those of a writer's by the first one
    static constinit std::atomic<bool> known[2] = {false, false};
    if (!known[options.read_only ? 1 : 0].exchange(true)) end_children_before_exit_handlers();
  }
  std::unique_ptr<Index> index(new Index(std::move(state)));
  State& own = *index->state_;
  const auto now = own.tiers.get();
  for (const auto& segment : now->stable) own.hold_on_gpu(segment);
  if (options.read_only) return index;
  own.merge_wanted = true;
  own.sync_wanted = own.snapshot_is_lost.load();
  own.wake_if_due();
  auto syncs = start_quiet_thread([&own] { own.run_syncs(); });
  if (!syncs) return syncs.error();
  own.sync_thread = std::move(*syncs);
  auto merges = start_quiet_thread([&own] { own.run_merges(); });
  if (!merges) return merges.error();
  own.merge_thread = std::move(*merges);
  return index;
}

Index::Index(std::unique_ptr<State> state) : state_(std::move(state)) {}

Index::~Index() {
  State& own = *state_;
  if (!own.owner.is_current()) {
    (void)state_.release();  // its threads, its database and its files are another process's
    return;
  }
  const auto tell = [&](bool& what) {
    const std::lock_guard lock(own.waking);
    what = true;
    if (own.snapshot == nullptr) own.merge_wanted = false;  // nobody would see the merges
    own.wake.notify_all();
  };
  tell(own.stop);
  if (own.sync_thread.joinable()) own.sync_thread.join();
  tell(own.stop_merging);
  if (own.merge_thread.joinable()) own.merge_thread.join();
  if (own.snapshot_is_lost && !own.options.read_only) {
    if (Status saved = own.sync(false); !saved) log(LogLevel::warn, "{}", saved.error().message);
  }
  if (Status saved = own.save_merged(); !saved) log(LogLevel::warn, "{}", saved.error().message);
}

Status Index::State::open() {
  settings = options.settings;
  auto searches = SegmentSearch::create(options.device);
  if (!searches) return searches.error();
  segment_search = std::move(*searches);
  if (path.empty() || options.create) {
    Tiers first;
    first.recent.push_back(std::make_shared<RecentTier>());
    tiers.set(std::move(first));
    search_only = options.search_only;
  }
  if (path.empty()) return {};
  if (options.create && options.read_only) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("an index that is made is written to ({}): create or read-only", path));
  }
  if (options.create && ::mkdir(path.c_str(), 0777) != 0) {
    if (errno == EEXIST) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("there is something already ({}): remove it or take another name", path));
    }
    return fail(ErrorCode::io,
                fmt::format("cannot make the folder ({}: {})", path, std::strerror(errno)), errno);
  }
  if (is_no_folder(path)) {
    return fail(ErrorCode::not_found,
                fmt::format("no index ({}: not a folder): `hoist match build` makes one", path));
  }
  if (!options.read_only) {
    if (Status locked = lock_folder(); !locked) return locked;
  }
  const std::string snapshot_path = path + "/snapshot.hoist";
  if (options.create) {
    snapshot = std::make_unique<SnapshotFile>(snapshot_path, SnapshotContents());
    LedgerState nothing;
    nothing.has_store = !search_only;
    auto begun = Ledger::create(path + "/ledger", nothing);
    if (!begun) return begun.error();
    ledger = std::move(*begun);
    if (search_only) return {};
    auto made = Store::open(path + "/store",
                            {.create = true, .settings = settings, .ledger = ledger.get()});
    if (!made) return made.error();
    store = std::move(*made);
    return {};
  }
  return load();
}

// Before queries meet it: the first one need not wait.
void Index::State::hold_on_gpu(const std::shared_ptr<StableSegment>& segment) const {
  if (segment->size() >= kLargeSegment) segment_search->hold(segment, segment->view());
}

Status Index::State::lock_folder() {
  auto opened = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!opened) return opened.error();
  folder_lock = PrivateFd(std::move(*opened));
  if (::flock(folder_lock.get(), LOCK_EX | LOCK_NB) == 0) return {};
  return fail(ErrorCode::unavailable,
              fmt::format("another process writes to the index ({}): wait for it, or open it "
                          "read-only",
                          path));
}

// What the folder must have.
Status Index::State::load_ledger(bool has_snapshot, bool has_store) {
  auto opened = Ledger::open(path + "/ledger", options.read_only);
  // Without a store nothing is written: such an index may lie where nobody writes.
  const int why_not = opened ? 0 : opened.error().system_errno;
  if (!has_store && (why_not == EROFS || why_not == EACCES)) {
    opened = Ledger::open(path + "/ledger", true);
  }
  if (!opened && opened.error().code == ErrorCode::not_found) {
    if (has_snapshot || has_store) return {};
    return fail(ErrorCode::not_found,
                fmt::format("no index ({}): `hoist match build` makes one", path));
  }
  if (!opened) {
    if (opened.error().code == ErrorCode::corrupt) opened.error().message += repair_advice();
    return opened.error();
  }
  ledger = std::move(*opened);
  const bool wants_store = ledger->state().has_store;
  const bool wants_snapshot = !wants_store && ledger->state().snapshot_generation != 0;
  if ((wants_store && !has_store) || (wants_snapshot && !has_snapshot)) {
    return fail(ErrorCode::corrupt,
                fmt::format("{} is missing from the index ({}){}",
                            wants_store ? "the store" : "the snapshot", path, repair_advice()));
  }
  return {};
}

std::string Index::State::repair_advice() const {
  return fmt::format(": `hoist match repair {} -o NEW` saves what is whole", path);
}

// An index that was made before there were ledgers: what is there now is what was acknowledged.
Status Index::State::adopt() {
  if (ledger != nullptr || options.read_only) return {};
  LedgerState state;
  state.has_store = store != nullptr;
  if (store) state.acknowledged = store->chain();
  auto begun = Ledger::create(path + "/ledger", state);
  const int why_not = begun ? 0 : begun.error().system_errno;
  if (!store && (why_not == EROFS || why_not == EACCES)) return {};
  if (!begun) return begun.error();
  ledger = std::move(*begun);
  return store ? store->use_ledger(*ledger) : Status();
}

Status Index::State::load() {
  const std::string snapshot_path = path + "/snapshot.hoist";
  const std::string store_path = path + "/store";
  // Before the store: it has at least what the ledger says now.
  Status known = load_ledger(exists(snapshot_path), exists(store_path));
  if (!known) return known;
  search_only = !exists(store_path);
  if (!search_only) {
    // Before the snapshot: what a writer moves from the store to the snapshot meanwhile is then in
    // one of them at least.
    auto opened = Store::open(store_path, {.read_only = options.read_only, .ledger = ledger.get()});
    if (!opened) return opened.error();
    store = std::move(*opened);
    settings = store->settings();
  }
  if (Status adopted = adopt(); !adopted) return adopted;
  if (exists(snapshot_path)) {
    Status loaded = load_segments(snapshot_path);
    if (!loaded && loaded.error().code != ErrorCode::corrupt) return loaded;
    if (!loaded && search_only) {
      loaded.error().message += repair_advice();
      return loaded;
    }
    if (!loaded) {
      log(LogLevel::warn, "{}: {}", loaded.error().message,
          options.read_only
              ? "the store is read instead, until a process that writes makes it again"
              : "it is made again from the store");
      vocabulary = std::make_unique<Vocabulary>();
    }
    if (!loaded) snapshot_is_lost = true;
  }
  if (snapshot == nullptr) {
    snapshot = std::make_unique<SnapshotFile>(
        snapshot_path, SnapshotContents(ledger ? ledger->state().snapshot_generation : 0));
  }
  Tiers first = *tiers.get();
  first.recent.push_back(std::make_shared<RecentTier>());
  tiers.set(std::move(first));
  count_segments();
  if (search_only) return {};
  return replay();
}

Status Index::State::load_segments(const std::string& snapshot_path) {
  auto loaded = load_snapshot(snapshot_path, *vocabulary, {.max_memory = options.max_memory});
  if (!loaded) return loaded.error();
  if (ledger && loaded->contents.generation < ledger->state().snapshot_generation) {
    return fail(ErrorCode::corrupt,
                fmt::format("damaged snapshot ({}: an old one, of which a later save is missing)",
                            snapshot_path));
  }
  if (store) {
    // A later snapshot was there, and is damaged.
    const auto forgotten = store->forgotten_changes();
    if (!forgotten) return forgotten.error();
    if (loaded->position.change < *forgotten) {
      return fail(ErrorCode::corrupt, fmt::format("an old snapshot ({})", snapshot_path));
    }
  }
  position = folded = saved = loaded->position;
  sync_begun_serial = position.serial;
  settings = loaded->settings;
  next_segment = loaded->next_segment;
  tiers.set({std::move(loaded->segments), {}});
  if (loaded->is_damaged || is_worth_remaking(snapshot_path)) {
    log(LogLevel::warn, "damaged snapshot ({}): what counts of it was read", snapshot_path);
    snapshot_is_lost = !search_only;
    loaded->contents = SnapshotContents(loaded->contents.generation);
  }
  snapshot = std::make_unique<SnapshotFile>(snapshot_path, std::move(loaded->contents));
  return {};
}

bool Index::State::is_worth_remaking(const std::string& snapshot_path) const {
  return options.check_snapshot && !check_snapshot(snapshot_path);
}

void Index::State::count_segments() {
  const auto now = tiers.get();
  for (const auto& segment : now->stable) {
    patterns += segment->live();
    for (uint32_t i = 0; i < segment->size(); ++i) frequencies += segment->frequency(i);
    stable_memory += segment->memory();
  }
}

Status Index::State::replay() {
  Status read = store->read_symbols(vocabulary->size(), [&](std::string_view symbol) -> Status {
    if (vocabulary->size() >= Vocabulary::kMaxSymbols || vocabulary->find(symbol)) {
      return fail(ErrorCode::corrupt,
                  fmt::format("a symbol twice in the store ({}): restore it from a copy", path));
    }
    vocabulary->add(symbol);
    return {};
  });
  if (!read) return read;
  const uint32_t known_serials = position.serial;
  read = store->read_changes(position.change, [&](uint64_t number, Change&& change) {
    return replay_change(number, change, known_serials);
  });
  if (!read) return read;
  return store->read_patterns(
      known_serials, [&](StoredPattern&& pattern) { return replay_pattern(std::move(pattern)); });
}

Status Index::State::replay_change(uint64_t number, const Change& change, uint32_t known_serials) {
  position.change = std::max(position.change, number + 1);
  // Later patterns are read with their last state.
  if (change.serial >= known_serials) return {};
  const auto place = find_serial(NameKey(change.name), change.length, change.serial);
  if (!place) return {};
  PatternState now{0, {}};  // unless it is still there
  if (change.kind == Change::Kind::update) {
    auto state = store->read_state(change.serial);
    if (!state) return state.error();
    if (*state) now = std::move(**state);
  }
  set_state(
      *place, now.frequency,
      now.emotives.empty() ? nullptr : std::make_shared<EmotiveList>(std::move(now.emotives)));
  return {};
}

Status Index::State::replay_pattern(StoredPattern&& pattern) {
  for (const uint32_t symbol : pattern.symbols) {
    if (symbol >= vocabulary->size()) {
      return fail(ErrorCode::corrupt,
                  fmt::format("pattern {} has a symbol without a name in the store ({}): restore "
                              "it from a copy",
                              pattern.serial, path));
    }
  }
  position.serial = pattern.serial + 1;
  append(NameKey(pattern.name), pattern.symbols, pattern.event_sizes, pattern.serial,
         pattern.state);
  if (Status fits = check_memory(); !fits) return fits;
  if (tiers.get()->recent.back()->size() < kReplayFold) return {};
  Position at;
  return fold(at);
}

}  // namespace hoist::match
