#include "service/api/events.h"

#include <string>
#include <string_view>
#include <utility>

#include "service/monitoring/time_text.h"

namespace hoist::service {
namespace {

std::string event_text(std::string_view type, nlohmann::ordered_json data) {
  using Json = nlohmann::ordered_json;
  return Json{{"event_type", type},
              {"timestamp", iso_time(std::chrono::system_clock::now())},
              {"data", std::move(data)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void Events::tell(std::string_view type, nlohmann::ordered_json data) {
  if (listeners_.size() > 0) listeners_.broadcast(event_text(type, std::move(data)));
}

void Events::session_created(const Session& session) {
  tell("session.created", {{"session_id", session.id},
                           {"node_id", session.node},
                           {"created_at", iso_time(session.created)}});
}

void Events::session_destroyed(const Session& session, std::string_view reason) {
  tell("session.destroyed", {{"session_id", session.id},
                             {"destroyed_at", iso_time(std::chrono::system_clock::now())},
                             {"reason", reason}});
}

net::WebSocketEvents Events::listen(std::shared_ptr<net::WebSocket> socket, size_t sessions) {
  socket->send_text(
      event_text("state.snapshot", {{"active_sessions", sessions}, {"system_status", "healthy"}}));
  listeners_.add(socket);
  return {.message = [socket](std::string message, bool) {
    if (std::string_view(message) == "ping") socket->send_text("pong");
  }};
}

}  // namespace hoist::service
