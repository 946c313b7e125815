#include "match/store/store.h"

#include <fmt/core.h>
#include <rocksdb/sst_file_writer.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/log.h"
#include "match/store/chain_filter.h"
#include "match/store/read_beside_writer.h"
#include "match/store/store_check.h"
#include "match/store/store_layout.h"

namespace hoist::match {
namespace {

using namespace layout;  // NOLINT(google-build-using-namespace)

// Symbols of one write, whose copies may be due.
constexpr uint64_t kMostCopies = 65'535;

}  // namespace

struct Store::State {
  std::string path;
  bool read_only = false;
  std::unique_ptr<ChainFilter> filter;  // the database names it as long as it is open
  std::unique_ptr<rocksdb::DB> database;
  IndexSettings settings;
  Ledger* ledger = nullptr;  // none: nothing is compared
  std::mutex log;            // held by whoever writes to it; what follows is under it
  bool broken = false;       // a write failed
  bool has_written = false;
  ChainPoint chain;
  // Symbols of the last write, which the next one repeats: whatever damages one record or one block
  // of a table leaves each symbol that others use.
  std::vector<std::pair<uint32_t, std::string>> due_copies;

  Error error(const rocksdb::Status& status, std::string_view doing,
              bool is_opening = false) const {
    return store_error(status, doing, path, is_opening);
  }

  Error damaged(const std::string& what) const {
    return fail(ErrorCode::corrupt,
                fmt::format("{} in the store ({}){}", what, path, repair_advice(path)));
  }

  // RocksDB does not take every write after a failed one for an error (some of its assertions, on
  // in Debian's build, take it for a mistake), so no second one gets there.
  Status check_whole() const {
    if (!broken) return {};
    return fail(ErrorCode::io, fmt::format("an earlier write to the store failed ({}): free space, "
                                           "then open the index again",
                                           path));
  }

  Error broke(const rocksdb::Status& status, std::string_view doing) {
    broken = true;
    return error(status, doing);
  }

  // The chain's next point ends the batch; `count` changes what it counts besides.
  ChainPoint add_point(rocksdb::WriteBatch& batch,
                       const std::function<void(ChainPoint&)>& count) const {
    ChainPoint next = next_point(chain, operations_of(batch.Data()));
    if (count) count(next);
    std::string point;
    encode_point(next, point);
    batch.Put(std::string(1, kChain), point);
    return next;
  }

  Status write(rocksdb::WriteBatch& batch, const std::function<void(ChainPoint&)>& count = {},
               bool durable = false) {
    const std::lock_guard lock(log);
    return write_locked(batch, count, durable);
  }

  // Under `log`. When it returns the write is acknowledged: in the log first, then in the ledger.
  Status write_locked(rocksdb::WriteBatch& batch, const std::function<void(ChainPoint&)>& count,
                      bool durable) {
    if (Status whole = check_whole(); !whole) return whole;
    for (const auto& [id, symbol] : due_copies) batch.Put(key(kSymbolCopy, id), symbol);
    const ChainPoint next = add_point(batch, count);
    rocksdb::WriteOptions options;
    options.sync = durable;
    const rocksdb::Status written = database->Write(options, &batch);
    if (!written.ok()) return broke(written, "write to");
    due_copies.clear();
    has_written = true;
    chain = next;
    if (ledger == nullptr) return {};
    Status acknowledged = ledger->acknowledge(chain);
    if (acknowledged && durable) acknowledged = ledger->flushed(chain);
    if (!acknowledged) broken = true;
    return acknowledged;
  }

  // Nothing where the key is not there.
  Result<std::optional<std::string>> get(const std::string& name) const {
    std::string value;
    const rocksdb::Status found = database->Get(rocksdb::ReadOptions(), name, &value);
    if (found.IsNotFound()) return std::nullopt;
    if (!found.ok()) return error(found, "read");
    return value;
  }

  // Calls `take` for the keys of a kind from `number` on.
  template <typename T>
  Status read(char kind, T number,
              const std::function<Status(T, std::string_view value)>& take) const {
    rocksdb::ReadOptions options;
    options.readahead_size = size_t{1} << 20;
    options.fill_cache = false;
    const std::string end(1, static_cast<char>(kind + 1));
    const rocksdb::Slice bound(end);
    options.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> at(database->NewIterator(options));
    for (at->Seek(key(kind, number)); at->Valid(); at->Next()) {
      T found = 0;
      if (!parse_key(at->key(), found)) return damaged("a damaged key");
      if (Status taken = take(found, view(at->value())); !taken) return taken;
    }
    if (!at->status().ok()) return error(at->status(), "read");
    return {};
  }

  void put_symbols(const NewSymbols& added, rocksdb::WriteBatch& batch) const {
    uint32_t id = added.first_symbol;
    for (const std::string_view symbol : added.symbols) {
      batch.Put(key(kSymbol, id++), slice(symbol));
    }
  }

  Status load_settings() {
    const auto stored = get(std::string(1, kSettings));
    if (!stored) return stored.error();
    if (!*stored) return damaged("no settings");
    const auto decoded = decode_settings(**stored);
    if (!decoded && decoded.error().code == ErrorCode::corrupt) {
      return damaged(decoded.error().message);
    }
    if (!decoded) {
      return fail(decoded.error().code, fmt::format("{} ({})", decoded.error().message, path));
    }
    settings = *decoded;
    return {};
  }

  Status load_chain() {
    const auto stored = get(std::string(1, kChain));
    if (!stored) return stored.error();
    if (*stored) {
      const auto point = decode_point(**stored);
      if (!point) return damaged("a damaged point");
      chain = *point;
      const uint64_t counted = chain.ingests;
      chain.ingests = static_cast<uint64_t>(last_number<uint64_t>(kIngest) + 1);
      if (chain.ingests == counted) return {};
    }
    if (read_only) return {};
    // The process died between an ingest and its write, or the store was made before there were
    // chains: they go on with what is there.
    chain.patterns = 0;
    return read<uint32_t>(kPattern, 0, [this](uint32_t, std::string_view) -> Status {
      ++chain.patterns;
      return {};
    });
  }

  // The last number of a kind, and -1 where there is none.
  template <typename T>
  int64_t last_number(char kind) const {
    const std::unique_ptr<rocksdb::Iterator> at(database->NewIterator(rocksdb::ReadOptions()));
    at->SeekForPrev(key(kind, std::numeric_limits<T>::max()));
    T number = 0;
    const bool is_there = at->Valid() && at->key()[0] == kind && parse_key(at->key(), number);
    return is_there ? static_cast<int64_t>(number) : -1;
  }

  // What a process that was killed did not repeat. Where it is more, symbols came beside the log,
  // and the snapshot has them a second time.
  Status find_due_copies() {
    const int64_t copied = last_number<uint32_t>(kSymbolCopy);
    const int64_t known = last_number<uint32_t>(kSymbol);
    if (known - copied > static_cast<int64_t>(kMostCopies)) return {};
    return read<uint32_t>(kSymbol, static_cast<uint32_t>(copied + 1),
                          [this](uint32_t id, std::string_view symbol) -> Status {
                            due_copies.emplace_back(id, symbol);
                            return {};
                          });
  }

  void note_copies(const NewSymbols& added) {
    uint32_t id = added.first_symbol;
    for (const std::string_view symbol : added.symbols) due_copies.emplace_back(id++, symbol);
  }
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}

// What was acknowledged is on the disk afterwards, and the ledger says so: in another boot a tail
// that was cut off is then told from a torn one.
Store::~Store() {
  if (state_->read_only || state_->broken) return;
  if (Status closed = close(); !closed) log(LogLevel::warn, "{}", closed.error().message);
}

Status Store::close() {
  if (!state_->due_copies.empty()) {
    rocksdb::WriteBatch batch;
    if (Status written = state_->write(batch); !written) return written;
  }
  if (!state_->has_written) return {};
  if (Status flushed = flush_log(); !flushed) return flushed;
  return state_->ledger == nullptr ? Status() : state_->ledger->sync();
}

const IndexSettings& Store::settings() const { return state_->settings; }
Status Store::check_tables() const {
  const rocksdb::Status checked = state_->database->VerifyChecksum();
  if (!checked.ok()) return state_->error(checked, "read");
  return {};
}
Status Store::use_ledger(Ledger& ledger) {
  const std::lock_guard lock(state_->log);
  state_->ledger = &ledger;
  rocksdb::WriteBatch nothing;
  return state_->write_locked(nothing, {}, true);
}
bool Store::takes_writes() const {
  const std::lock_guard lock(state_->log);
  return !state_->broken;
}
ChainPoint Store::chain() const {
  const std::lock_guard lock(state_->log);
  return state_->chain;
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path, const Options& options) {
  if (!options.read_only) return open_once(path, options);
  std::unique_ptr<Store> store;
  Status read = read_beside_writer(path, [&]() -> Status {
    auto opened = open_once(path, options);
    if (!opened) return opened.error();
    store = std::move(*opened);
    return {};
  });
  if (!read) return read.error();
  return store;
}

Result<std::unique_ptr<Store>> Store::open_once(const std::string& path, const Options& options) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->read_only = options.read_only;
  rocksdb::DB* database = nullptr;
  rocksdb::Options wanted = database_options();
  ChainPoint must_have;
  if (!options.create) {
    const LedgerState known = options.ledger == nullptr ? LedgerState() : options.ledger->state();
    const auto checked = check_store(path, options.ledger == nullptr ? nullptr : &known);
    if (!checked) return checked.error();
    must_have = checked->end;
    state->filter = std::make_unique<ChainFilter>(*checked);
    wanted.wal_filter = state->filter.get();
  }
  wanted.create_if_missing = options.create;
  wanted.error_if_exists = options.create;
  const rocksdb::Status opened = options.read_only
                                     ? rocksdb::DB::OpenForReadOnly(wanted, path, &database)
                                     : rocksdb::DB::Open(wanted, path, &database);
  if (!opened.ok()) return state->error(opened, "open", !options.create);
  state->database.reset(database);
  state->ledger = options.ledger;
  if (options.create) {
    rocksdb::WriteBatch batch;
    batch.Put(std::string(1, kSettings), encode_settings(options.settings));
    if (Status written = state->write(batch); !written) return written.error();
  }
  if (Status loaded = state->load_settings(); !loaded) return loaded.error();
  if (Status loaded = state->load_chain(); !loaded) return loaded.error();
  const bool has_gap = state->filter && state->filter->has_gap();
  if (state->chain.writes < must_have.writes || has_gap) {
    return state->damaged(has_gap ? fmt::format("not all of {} writes were read", must_have.writes)
                                  : fmt::format("only {} of {} writes were read",
                                                state->chain.writes, must_have.writes));
  }
  if (!options.create && !options.read_only) {
    if (Status found = state->find_due_copies(); !found) return found.error();
  }
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

Status Store::read_symbols(uint32_t from,
                           const std::function<Status(std::string_view)>& take) const {
  uint32_t expected = from;
  return state_->read<uint32_t>(kSymbol, from, [&](uint32_t id, std::string_view symbol) -> Status {
    if (id != expected++) return state_->damaged(fmt::format("no symbol {}", expected - 1));
    return take(symbol);
  });
}

Status Store::read_patterns(uint32_t from,
                            const std::function<Status(StoredPattern&&)>& take) const {
  return state_->read<uint32_t>(
      kPattern, from, [&](uint32_t serial, std::string_view bytes) -> Status {
        auto pattern = decode_pattern(serial, bytes);
        if (!pattern) return state_->damaged(fmt::format("{} {}", pattern.error().message, serial));
        auto state = state_->get(key(kState, serial));
        if (!state) return state.error();
        if (*state) {
          auto decoded = decode_state(**state);
          if (!decoded) return state_->damaged(decoded.error().message);
          pattern->state = std::move(*decoded);
        }
        return take(std::move(*pattern));
      });
}

Status Store::read_changes(uint64_t from,
                           const std::function<Status(uint64_t, Change&&)>& take) const {
  return state_->read<uint64_t>(
      kChange, from, [&](uint64_t number, std::string_view bytes) -> Status {
        auto change = decode_change(bytes);
        if (!change) return state_->damaged(fmt::format("{} {}", change.error().message, number));
        return take(number, std::move(*change));
      });
}

Result<std::optional<PatternState>> Store::read_state(uint32_t serial) const {
  for (const char kind : {kState, kPattern}) {
    const auto bytes = state_->get(key(kind, serial));
    if (!bytes) return bytes.error();
    if (!*bytes) continue;
    if (kind == kState) {
      auto state = decode_state(**bytes);
      if (!state) return state_->damaged(state.error().message);
      return std::move(*state);
    }
    auto pattern = decode_pattern(serial, **bytes);
    if (!pattern) return state_->damaged(pattern.error().message);
    return std::move(pattern->state);
  }
  return std::nullopt;
}

Result<std::string> Store::read_metadata(uint32_t serial) const {
  auto bytes = state_->get(key(kMetadata, serial));
  if (!bytes) return bytes.error();
  return std::move(*bytes).value_or(std::string());
}

Status Store::learn(const NewPattern& pattern, const NewSymbols& symbols) {
  rocksdb::WriteBatch batch;
  state_->put_symbols(symbols, batch);
  std::string value;
  encode_pattern(pattern.name, pattern.symbols, pattern.event_sizes, *pattern.state, value);
  batch.Put(key(kPattern, pattern.serial), value);
  if (!pattern.metadata.empty()) {
    batch.Put(key(kMetadata, pattern.serial), slice(pattern.metadata));
  }
  Status written = state_->write(batch, [](ChainPoint& point) { ++point.patterns; });
  if (written) state_->note_copies(symbols);
  return written;
}

Status Store::update(uint64_t number, const Change& change, const PatternState& state,
                     std::string_view metadata) {
  rocksdb::WriteBatch batch;
  std::string value;
  encode_state(state, value);
  batch.Put(key(kState, change.serial), value);
  value.clear();
  encode_change(change, value);
  batch.Put(key(kChange, number), value);
  if (!metadata.empty()) batch.Put(key(kMetadata, change.serial), slice(metadata));
  return state_->write(batch);
}

Status Store::remove(uint64_t number, const Change& change) {
  rocksdb::WriteBatch batch;
  for (const char kind : {kPattern, kState, kMetadata}) batch.Delete(key(kind, change.serial));
  std::string value;
  encode_change(change, value);
  batch.Put(key(kChange, number), value);
  return state_->write(batch, [](ChainPoint& point) { --point.patterns; });
}

Status Store::forget_changes(uint64_t before) {
  // The last one stays: it tells which number comes next.
  if (before < 2) return {};
  rocksdb::WriteBatch batch;
  batch.DeleteRange(key(kChange, uint64_t{0}), key(kChange, before - 1));
  std::string value;
  encode_varint(before, value);
  batch.Put(std::string(1, kForgotten), value);
  return state_->write(batch);
}

Result<uint64_t> Store::forgotten_changes() const {
  const auto bytes = state_->get(std::string(1, kForgotten));
  if (!bytes) return bytes.error();
  if (!*bytes) return 0;
  Decoder decoder(**bytes);
  const uint64_t before = decoder.varint();
  if (!decoder.done()) return state_->damaged("a damaged number of changes");
  return before;
}

Status Store::flush_log() {
  // Held while the disk works: a write that fails meanwhile must not meet it.
  const std::lock_guard lock(state_->log);
  if (Status whole = state_->check_whole(); !whole) return whole;
  // Every write has handed its log to the kernel, so that there is nothing to flush before.
  const rocksdb::Status synced = state_->database->SyncWAL();
  if (!synced.ok()) return state_->broke(synced, "sync");
  return state_->ledger == nullptr ? Status() : state_->ledger->flushed(state_->chain);
}

Status Store::ingest(const NewSymbols& symbols, const std::function<bool(NewPattern&)>& next) {
  const std::lock_guard lock(state_->log);
  if (Status whole = state_->check_whole(); !whole) return whole;
  rocksdb::WriteBatch batch;
  state_->put_symbols(symbols, batch);
  // A process that was killed may have left names that tables still share: never write into them.
  const std::string file = state_->path + "/ingested";
  const std::string mark = file + "-mark";
  for (const std::string& name : {file, mark}) {
    if (::unlink(name.c_str()) != 0 && errno != ENOENT) {
      const int code = errno;
      return fail(ErrorCode::io, fmt::format("cannot remove ({}: {})", name, std::strerror(code)),
                  code);
    }
  }
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), state_->database->GetOptions());
  rocksdb::Status status = writer.Open(file);
  NewPattern pattern;
  std::string value;
  uint64_t count = 0;
  while (status.ok() && next(pattern)) {
    value.clear();
    encode_pattern(pattern.name, pattern.symbols, pattern.event_sizes, *pattern.state, value);
    status = writer.Put(key(kPattern, pattern.serial), value);
    if (!pattern.metadata.empty()) {
      batch.Put(key(kMetadata, pattern.serial), slice(pattern.metadata));
    }
    ++count;
  }
  if (!status.ok()) {
    ::unlink(file.c_str());
    return state_->broke(status, "write to");
  }
  // Symbols first: no pattern is ever there without its own.
  Status written = state_->write_locked(batch, {}, true);
  if (!written || count == 0) {
    ::unlink(file.c_str());
    return written;
  }
  // Tells an old manifest, which does not have them. A file of its own: files of patterns overlap
  // no other, so that nothing is merged.
  status = writer.Finish();
  if (status.ok()) status = writer.Open(mark);
  if (status.ok()) status = writer.Put(key(kIngest, state_->chain.ingests), "");
  if (status.ok()) status = writer.Finish();
  if (status.ok()) {
    rocksdb::IngestExternalFileOptions options;
    options.move_files = true;
    status = state_->database->IngestExternalFile({file, mark}, options);
  }
  ::unlink(file.c_str());
  ::unlink(mark.c_str());
  if (!status.ok()) return state_->broke(status, "write to");
  rocksdb::WriteBatch done;
  return state_->write_locked(
      done,
      [count](ChainPoint& point) {
        point.patterns += count;
        ++point.ingests;
      },
      false);
}

}  // namespace hoist::match
