#include "service/session/session_keeper.h"

#include <deque>
#include <vector>

#include "base/log.h"
#include "service/node/node_keys.h"
#include "service/session/session_entries.h"
#include "service/session/session_memory.h"
#include "service/session/session_record.h"

namespace hoist::service {
namespace {

// Changes of many sessions that a scan finds, written after it, some at a time.
class ManyChanges {
 public:
  explicit ManyChanges(SideStore& store) : store_(store) {}

  // `change` puts all that is to be written of a session into the batch.
  template <typename Change>
  void add(const Change& change) {
    constexpr size_t kTogether = 256;
    if (sessions_++ % kTogether == 0) batches_.emplace_back();
    change(batches_.back());
  }
  Status write() {
    for (const SideStore::Batch& batch : batches_) {
      if (Status written = store_.write(batch); !written) return written;
    }
    return {};
  }

 private:
  SideStore& store_;
  std::deque<SideStore::Batch> batches_;
  size_t sessions_ = 0;
};

// Nothing where its time ran out or it is damaged, which is logged.
std::shared_ptr<Session> alive(Result<std::shared_ptr<Session>> session, std::string_view id) {
  if (!session) {
    log(LogLevel::error, "session {}: {}", id, session.error().message);
    return nullptr;
  }
  return (*session)->expires_ms >= now_ms() ? *std::move(session) : nullptr;
}

}  // namespace

Status SessionKeeper::keep(Session& session) {
  if (store_ == nullptr || session.ended) return {};
  const int64_t expires = session.expires_ms;
  SideStore::Batch batch;
  if (session.is_doubtful) {
    batch.remove_prefix(entries_prefix(session.id));
    session.kept.reset();
  }
  std::unique_ptr<KeptSession> kept = put_changes(session, batch);
  if (Status written = store_->write(batch); !written) {
    read_back(session);
    session.is_doubtful = true;
    return written;
  }
  session.is_doubtful = false;
  session.kept = std::move(kept);
  session.kept_expires_ms = expires;
  return {};
}

void SessionKeeper::read_back(Session& session) const {
  SessionEntries entries;
  Status read =
      store_->scan(entries_prefix(session.id), [&](std::string_view part, std::string_view value) {
        entries.entries.push_back({std::string(part), std::string(value)});
      });
  if (read && entries.entries.empty()) return;  // not written yet
  const auto before = read ? entries.read() : Result<std::shared_ptr<Session>>(read.error());
  if (!before) return log(LogLevel::error, "session {}: {}", session.id, before.error().message);
  SessionMemory(**before).put_back(session);
  session.config = (*before)->config;
  session.kept = std::move((*before)->kept);
}

void SessionKeeper::keep_time(Session& session) {
  constexpr int64_t kParts = 8;
  if (store_ == nullptr) return;
  const int64_t added = session.expires_ms - session.kept_expires_ms;
  if (added <= session.ttl_seconds * 1000 / kParts) return;
  const std::lock_guard lock(session.mutex);
  if (Status kept = keep(session); !kept) log(LogLevel::error, "{}", kept.error().message);
}

void SessionKeeper::keep_times(SessionTable& table) {
  if (store_ == nullptr) return;
  table.visit([&](Session& session) {
    if (session.expires_ms == session.kept_expires_ms) return;
    const std::lock_guard lock(session.mutex);
    if (Status kept = keep(session); !kept) log(LogLevel::error, "{}", kept.error().message);
  });
}

Status SessionKeeper::forget(Session& session) {
  const std::lock_guard lock(session.mutex);
  if (store_ != nullptr) {
    SideStore::Batch batch;
    if (session.is_doubtful) batch.remove_prefix(entries_prefix(session.id));
    remove_entries(session, batch);
    if (Status written = store_->write(batch); !written) {
      session.is_doubtful = true;
      return written;
    }
  }
  session.ended = true;
  return {};
}

Status SessionKeeper::restore(SessionTable& table) {
  if (store_ == nullptr) return {};
  if (Status restored = restore_entries(table); !restored) return restored;
  return restore_records(table);
}

Status SessionKeeper::restore_entries(SessionTable& table) {
  ManyChanges ended(*store_);
  SessionEntries entries;
  std::vector<std::shared_ptr<Session>> restored;
  const auto end_session = [&] {
    if (entries.entries.empty()) return;
    if (auto session = alive(entries.read(), entries.id)) {
      restored.push_back(std::move(session));
    } else {
      ended.add([&](SideStore::Batch& batch) { entries.remove(batch); });
    }
    entries.entries.clear();
  };
  Status read = store_->scan(keys::kSession, [&](std::string_view key, std::string_view value) {
    const auto id = take_key_part(key);
    if (!id) return;
    if (*id != entries.id) {
      end_session();
      entries.id = *id;
    }
    entries.entries.push_back({std::string(key), std::string(value)});
  });
  if (!read) return read;
  end_session();
  for (auto& session : restored) table.restore(std::move(session));
  return ended.write();
}

Status SessionKeeper::restore_records(SessionTable& table) {
  ManyChanges changes(*store_);
  std::vector<std::shared_ptr<Session>> restored;
  Status read =
      store_->scan(keys::kSessionRecord, [&](std::string_view id, std::string_view bytes) {
        const auto session = alive(decode_session_record(bytes), id);
        changes.add([&](SideStore::Batch& batch) {
          batch.remove(keys::kSessionRecord + std::string(id));
          if (session == nullptr) return;
          session->kept_expires_ms = session->expires_ms.load();
          session->kept = put_changes(*session, batch);
        });
        if (session != nullptr) restored.push_back(session);
      });
  if (!read) return read;
  for (auto& session : restored) table.restore(std::move(session));
  return changes.write();
}

}  // namespace hoist::service
