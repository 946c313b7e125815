#include "service/session/session_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "service/session/random_id.h"

namespace hoist::service {

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

namespace {

// One that a request uses is there, though its time is over.
bool is_alive(const Session& session, int64_t now) {
  return session.expires_ms >= now || !session.strand.is_idle();
}

}  // namespace

Result<std::shared_ptr<Session>> SessionTable::create(std::string node, SessionConfig config,
                                                      nlohmann::ordered_json metadata,
                                                      int64_t ttl_seconds) {
  if (size() >= options_.most) {
    return fail(ErrorCode::exhausted,
                fmt::format("there are {} sessions, as many as there may be: delete some, or "
                            "start the service with a larger --max-sessions",
                            options_.most));
  }
  auto session = std::make_shared<Session>();
  session->created = std::chrono::system_clock::now();
  session->id = fmt::format("session-{}-{}", random_id(), now_ms());
  session->node = std::move(node);
  session->config = std::move(config);
  session->metadata = std::move(metadata);
  session->ttl_seconds = ttl_seconds > 0 ? ttl_seconds : options_.ttl_seconds;
  session->expires_ms = now_ms() + session->ttl_seconds * 1000;
  created_.fetch_add(1, std::memory_order_relaxed);
  restore(session);
  return session;
}

void SessionTable::restore(std::shared_ptr<Session> session) {
  Shard& shard = shard_of(session->id);
  const std::lock_guard lock(shard.mutex);
  const std::string id = session->id;
  if (shard.sessions.insert_or_assign(id, std::move(session)).second) ++size_;
}

// With the shard's lock.
void SessionTable::take_away(Shard& shard, std::string_view id) {
  shard.sessions.erase(shard.sessions.find(id));
  --size_;
}

std::shared_ptr<Session> SessionTable::find(std::string_view id) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.sessions.find(id);
  if (found == shard.sessions.end()) return nullptr;
  std::shared_ptr<Session> session = found->second;
  if (!is_alive(*session, now_ms())) return nullptr;
  touch(*session);
  return session;
}

void SessionTable::touch(Session& session) const {
  if (!options_.extend_on_access) return;
  const int64_t wanted = now_ms() + session.ttl_seconds * 1000;
  int64_t known = session.expires_ms;
  while (known < wanted && !session.expires_ms.compare_exchange_weak(known, wanted)) {
  }
}

std::shared_ptr<Session> SessionTable::peek(std::string_view id) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.sessions.find(id);
  const bool is_there = found != shard.sessions.end() && is_alive(*found->second, now_ms());
  return is_there ? found->second : nullptr;
}

SessionTable::Presence SessionTable::look(std::string_view id) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.sessions.find(id);
  if (found == shard.sessions.end()) return Presence::none;
  return is_alive(*found->second, now_ms()) ? Presence::alive : Presence::expired;
}

std::shared_ptr<Session> SessionTable::remove(std::string_view id) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.sessions.find(id);
  if (found == shard.sessions.end() || !is_alive(*found->second, now_ms())) return nullptr;
  std::shared_ptr<Session> session = found->second;
  take_away(shard, id);
  deleted_.fetch_add(1, std::memory_order_relaxed);
  return session;
}

void SessionTable::visit(const std::function<void(Session&)>& visit) {
  const int64_t now = now_ms();
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [id, session] : shard.sessions) {
      if (is_alive(*session, now)) visit(*session);
    }
  }
}

void SessionTable::sweep(const std::function<void(Session&)>& ended) {
  const int64_t now = now_ms();
  for (Shard& shard : shards_) {
    std::vector<std::shared_ptr<Session>> gone;
    {
      const std::lock_guard lock(shard.mutex);
      for (const auto& [id, session] : shard.sessions) {
        if (!is_alive(*session, now)) gone.push_back(session);
      }
      for (const auto& session : gone) take_away(shard, session->id);
    }
    expired_.fetch_add(gone.size(), std::memory_order_relaxed);
    for (const auto& session : gone) ended(*session);
  }
}

}  // namespace hoist::service
