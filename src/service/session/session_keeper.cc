#include "service/session/session_keeper.h"

#include <vector>

#include "base/log.h"
#include "service/node/node_keys.h"
#include "service/session/session_record.h"

namespace hoist::service {

Status SessionKeeper::keep(Session& session) {
  if (store_ == nullptr || session.ended) return {};
  const int64_t expires = session.expires_ms;
  SideStore::Batch batch;
  batch.put(keys::kSession + session.id, encode_session(session));
  if (Status written = store_->write(batch); !written) return written;
  session.kept_expires_ms = expires;
  return {};
}

void SessionKeeper::keep_time(Session& session) {
  constexpr int64_t kParts = 8;
  if (store_ == nullptr) return;
  const int64_t added = session.expires_ms - session.kept_expires_ms;
  if (added <= session.ttl_seconds * 1000 / kParts) return;
  const std::lock_guard lock(session.mutex);
  if (Status kept = keep(session); !kept) log(LogLevel::error, "{}", kept.error().message);
}

Status SessionKeeper::forget(Session& session) {
  if (store_ == nullptr) return {};
  const std::lock_guard lock(session.mutex);
  session.ended = true;
  SideStore::Batch batch;
  batch.remove(keys::kSession + session.id);
  return store_->write(batch);
}

Status SessionKeeper::restore(SessionTable& table) {
  if (store_ == nullptr) return {};
  SideStore::Batch ended;
  bool any_ended = false;
  const int64_t now = now_ms();
  Status read = store_->scan(keys::kSession, [&](std::string_view id, std::string_view bytes) {
    auto session = decode_session(bytes);
    if (session && (*session)->expires_ms >= now) {
      (*session)->kept_expires_ms = (*session)->expires_ms.load();
      table.restore(*std::move(session));
      return;
    }
    if (!session) log(LogLevel::error, "session {}: {}", id, session.error().message);
    any_ended = true;
    ended.remove(keys::kSession + std::string(id));
  });
  if (!read || !any_ended) return read;
  return store_->write(ended);
}

}  // namespace hoist::service
