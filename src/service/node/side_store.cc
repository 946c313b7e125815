#include "service/node/side_store.h"

#include <fmt/core.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/writer_first_mutex.h"
#include "match/store/database_log.h"

namespace hoist::service {
namespace {

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// The first key behind all that begin with `prefix`; empty: there is none.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace

struct SideStore::Batch::State {
  rocksdb::WriteBatch batch;
};

SideStore::Batch::Batch() : state_(std::make_unique<State>()) {}
SideStore::Batch::Batch(Batch&& other) noexcept = default;
SideStore::Batch::~Batch() = default;
void SideStore::Batch::put(std::string_view key, std::string_view value) {
  (void)state_->batch.Put(slice(key), slice(value));
}
void SideStore::Batch::remove(std::string_view key) { (void)state_->batch.Delete(slice(key)); }
void SideStore::Batch::remove_prefix(std::string_view prefix) {
  (void)state_->batch.DeleteRange(slice(prefix), slice(end_of(prefix)));
}

size_t SideStore::Batch::bytes() const { return state_->batch.GetDataSize(); }

struct SideStore::State {
  std::string path;
  WriterFirstMutex opening;               // shared by whoever uses the database
  std::unique_ptr<rocksdb::DB> database;  // null where it could not be opened anew
  rocksdb::WriteOptions write;
  std::mutex writing;
  // A write failed: RocksDB may take a later one for a mistake, and abort.
  std::atomic<bool> broken = false;
  std::vector<Batch> undo;  // of what failed; with `writing`

  Error error(const rocksdb::Status& status, std::string_view doing) const {
    const ErrorCode code = status.IsCorruption() ? ErrorCode::corrupt : ErrorCode::io;
    return fail(code, fmt::format("{} the service's store failed ({}): {}", doing, path,
                                  status.ToString()));
  }
  Error refused() const {
    return fail(ErrorCode::io, fmt::format("an earlier write to the service's store failed ({}): "
                                           "free space, and it takes writes again",
                                           path));
  }
  rocksdb::Status open() {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = size_t{4} << 20;
    options.max_open_files = 64;
    options.info_log = match::database_log();
    options.info_log_level = rocksdb::WARN_LEVEL;
    options.allow_fallocate = false;  // else an empty one takes megabytes
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(options, path, &opened);
    database.reset(opened);
    return status;
  }
};

SideStore::SideStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SideStore::~SideStore() = default;

Result<std::unique_ptr<SideStore>> SideStore::open(const std::string& path,
                                                   match::Durability durability) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->write.sync = durability == match::Durability::sync;
  const rocksdb::Status opened = state->open();
  if (!opened.ok()) {
    // RocksDB has no code of its own for a lock that somebody holds.
    const std::string reason = opened.ToString();
    if (opened.IsIOError() && (reason.ends_with(std::strerror(EAGAIN)) ||
                               reason.find("lock hold by current process") != reason.npos)) {
      return fail(ErrorCode::unavailable,
                  fmt::format("another process serves this folder ({})", path));
    }
    return state->error(opened, "opening");
  }
  return std::unique_ptr<SideStore>(new SideStore(std::move(state)));
}

Result<std::optional<std::string>> SideStore::get(std::string_view key) const {
  std::string value;
  const std::shared_lock open(state_->opening);
  if (state_->database == nullptr) return state_->refused();
  const rocksdb::Status found = state_->database->Get({}, slice(key), &value);
  if (found.IsNotFound()) return std::optional<std::string>();
  if (!found.ok()) return state_->error(found, "reading");
  return std::optional(std::move(value));
}

Status SideStore::write(const Batch& batch, const std::function<void(Batch&)>& undo) {
  const std::shared_lock open(state_->opening);
  const std::lock_guard lock(state_->writing);
  if (state_->broken) return state_->refused();
  const rocksdb::Status written = state_->database->Write(state_->write, &batch.state_->batch);
  if (written.ok()) return {};
  state_->broken = true;
  if (undo) undo(state_->undo.emplace_back());
  return state_->error(written, "writing");
}

bool SideStore::is_broken() const { return state_->broken; }

Status SideStore::mend() {
  const std::lock_guard alone(state_->opening);
  if (!state_->broken) return {};
  state_->database.reset();
  const rocksdb::Status opened = state_->open();
  if (!opened.ok()) return state_->error(opened, "opening");
  for (const Batch& undo : state_->undo) {
    const rocksdb::Status written = state_->database->Write(state_->write, &undo.state_->batch);
    if (!written.ok()) return state_->error(written, "writing");
  }
  state_->undo.clear();
  state_->broken = false;
  return {};
}

Status SideStore::scan(std::string_view prefix,
                       const std::function<void(std::string_view, std::string_view)>& visit) const {
  const std::shared_lock open(state_->opening);
  if (state_->database == nullptr) return state_->refused();
  const std::unique_ptr<rocksdb::Iterator> at(state_->database->NewIterator({}));
  for (at->Seek(slice(prefix)); at->Valid() && at->key().starts_with(slice(prefix)); at->Next()) {
    const std::string_view key(at->key().data(), at->key().size());
    visit(key.substr(prefix.size()), {at->value().data(), at->value().size()});
  }
  return at->status().ok() ? Status() : Status(state_->error(at->status(), "reading"));
}

std::string key_part(std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  std::string part(sizeof size, '\0');
  std::memcpy(part.data(), &size, sizeof size);
  return part.append(text);
}

std::optional<std::string_view> take_key_part(std::string_view& key) {
  uint32_t size = 0;
  if (key.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, key.data(), sizeof size);
  if (key.size() - sizeof size < size) return std::nullopt;
  const std::string_view part = key.substr(sizeof size, size);
  key.remove_prefix(sizeof size + size);
  return part;
}

}  // namespace hoist::service
