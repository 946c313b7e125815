#include "match/store/store.h"

#include <fmt/core.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <unistd.h>

#include <mutex>

namespace hoist::match {
namespace {

// First byte of a key; what follows is a big-endian number.
constexpr char kSettings = 'i';
constexpr char kSymbol = 'v';
constexpr char kPattern = 'p';   // as it was learned first
constexpr char kState = 'f';     // once it was learned again
constexpr char kMetadata = 'm';  // where there is some
constexpr char kChange = 'c';
constexpr char kForgotten = 'g';  // changes with lower numbers were
constexpr uint64_t kFormat = 0;

template <typename T>
std::string key(char kind, T number) {
  std::string out(1, kind);
  for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(number >> shift));
  }
  return out;
}

template <typename T>
bool parse_key(rocksdb::Slice bytes, T& number) {
  if (bytes.size() != 1 + sizeof(T)) return false;
  number = 0;
  for (size_t i = 1; i < bytes.size(); ++i) {
    number = static_cast<T>(number << 8 | static_cast<unsigned char>(bytes[i]));
  }
  return true;
}

std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

std::string encode_settings(const IndexSettings& settings) {
  std::string out;
  encode_varint(kFormat, out);
  encode_varint(settings.sort ? 1 : 0, out);
  encode_varint(settings.persistence, out);
  return out;
}

rocksdb::Options database_options(const Store::Options& options) {
  rocksdb::Options result;
  result.create_if_missing = options.create;
  result.error_if_exists = options.create;
  result.write_buffer_size = size_t{64} << 20;
  result.max_write_buffer_number = 4;
  result.max_background_jobs = 2;
  // The kernel writes the log back in small steps: one large step would hold up a later write.
  result.wal_bytes_per_sync = size_t{512} << 10;
  result.bytes_per_sync = size_t{1} << 20;
  result.compression = rocksdb::kLZ4Compression;
  result.keep_log_file_num = 2;
  result.max_log_file_size = size_t{1} << 20;
  result.info_log_level = rocksdb::WARN_LEVEL;
  result.stats_dump_period_sec = 0;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_cache = rocksdb::NewLRUCache(size_t{16} << 20);
  result.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return result;
}

}  // namespace

struct Store::State {
  std::string path;
  std::unique_ptr<rocksdb::DB> database;
  IndexSettings settings;
  std::mutex log;       // held by whoever writes to it
  bool broken = false;  // a write failed; under `log`

  tl::unexpected<Error> error(const rocksdb::Status& status, std::string_view doing) const {
    if (status.IsCorruption()) {
      return fail(ErrorCode::corrupt, fmt::format("damaged store ({}: {}): restore it from a copy",
                                                  path, status.ToString()));
    }
    return fail(status.IsNoSpace() || status.IsIOError() ? ErrorCode::io : ErrorCode::internal,
                fmt::format("cannot {} the store ({}: {}): is the disk full, or the store in use?",
                            doing, path, status.ToString()));
  }

  tl::unexpected<Error> damaged(const std::string& what) const {
    return fail(ErrorCode::corrupt,
                fmt::format("{} in the store ({}): restore it from a copy", what, path));
  }

  // RocksDB does not take every write after a failed one for an error (some of its assertions, on
  // in Debian's build, take it for a mistake), so no second one gets there.
  Status check_whole() const {
    if (!broken) return {};
    return fail(ErrorCode::io, fmt::format("an earlier write to the store failed ({}): free space, "
                                           "then open the index again",
                                           path));
  }

  tl::unexpected<Error> broke(const rocksdb::Status& status, std::string_view doing) {
    broken = true;
    return error(status, doing);
  }

  Status write(rocksdb::WriteBatch& batch) {
    const std::lock_guard lock(log);
    if (Status whole = check_whole(); !whole) return whole;
    const rocksdb::Status written = database->Write(rocksdb::WriteOptions(), &batch);
    if (!written.ok()) return broke(written, "write to");
    return {};
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
    if (!stored) return tl::unexpected(stored.error());
    if (!*stored) return damaged("no settings");
    Decoder decoder(**stored);
    const uint64_t format = decoder.varint();
    if (decoder.ok() && format != kFormat) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("a store of format {} ({}): this Hoist reads {}", format, path, kFormat));
    }
    settings.sort = decoder.varint() != 0;
    settings.persistence = decoder.varint32();
    if (!decoder.done()) return damaged("damaged settings");
    return {};
  }
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::~Store() = default;
const IndexSettings& Store::settings() const { return state_->settings; }

Result<std::unique_ptr<Store>> Store::open(const std::string& path, const Options& options) {
  auto state = std::make_unique<State>();
  state->path = path;
  rocksdb::DB* database = nullptr;
  const rocksdb::Options wanted = database_options(options);
  const rocksdb::Status opened = options.read_only
                                     ? rocksdb::DB::OpenForReadOnly(wanted, path, &database)
                                     : rocksdb::DB::Open(wanted, path, &database);
  if (!opened.ok()) return state->error(opened, "open");
  state->database.reset(database);
  if (options.create) {
    rocksdb::WriteBatch batch;
    batch.Put(std::string(1, kSettings), encode_settings(options.settings));
    if (Status written = state->write(batch); !written) return tl::unexpected(written.error());
  }
  if (Status loaded = state->load_settings(); !loaded) return tl::unexpected(loaded.error());
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
        if (!state) return tl::unexpected(state.error());
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
    if (!bytes) return tl::unexpected(bytes.error());
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
  if (!bytes) return tl::unexpected(bytes.error());
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
  return state_->write(batch);
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
  return state_->write(batch);
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
  if (!bytes) return tl::unexpected(bytes.error());
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
  return {};
}

Status Store::ingest(const NewSymbols& symbols, const std::function<bool(NewPattern&)>& next) {
  const std::lock_guard lock(state_->log);
  if (Status whole = state_->check_whole(); !whole) return whole;
  rocksdb::WriteBatch batch;
  state_->put_symbols(symbols, batch);
  const std::string file = state_->path + "/ingested";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), state_->database->GetOptions());
  rocksdb::Status status = writer.Open(file);
  NewPattern pattern;
  std::string value;
  bool any = false;
  while (status.ok() && next(pattern)) {
    value.clear();
    encode_pattern(pattern.name, pattern.symbols, pattern.event_sizes, *pattern.state, value);
    status = writer.Put(key(kPattern, pattern.serial), value);
    if (!pattern.metadata.empty()) {
      batch.Put(key(kMetadata, pattern.serial), slice(pattern.metadata));
    }
    any = true;
  }
  // Symbols first: no pattern is ever there without its own.
  if (status.ok()) {
    rocksdb::WriteOptions durable;
    durable.sync = true;
    status = state_->database->Write(durable, &batch);
  }
  if (status.ok() && any) status = writer.Finish();
  if (status.ok() && any) {
    rocksdb::IngestExternalFileOptions options;
    options.move_files = true;
    status = state_->database->IngestExternalFile({file}, options);
  }
  ::unlink(file.c_str());
  if (!status.ok()) return state_->broke(status, "write to");
  return {};
}

}  // namespace hoist::match
