#include "service/session/session_keeper.h"

#include <vector>

#include "base/log.h"
#include "service/node/node_keys.h"
#include "service/session/session_record.h"

namespace hoist::service {

Status SessionKeeper::keep(const Session& session) {
  if (store_ == nullptr) return {};
  SideStore::Batch batch;
  batch.put(keys::kSession + session.id, encode_session(session));
  return store_->write(batch);
}

Status SessionKeeper::forget(const Session& session) {
  if (store_ == nullptr) return {};
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
