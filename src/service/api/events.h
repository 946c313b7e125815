// What happens to sessions, told over WebSockets to whoever listens at /ws/events.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "net/http/websocket.h"
#include "service/session/session.h"

namespace hoist::service {

class Events {
 public:
  void session_created(const Session& session);
  // `reason`: "explicit_delete", "expired".
  void session_destroyed(const Session& session, std::string_view reason);

  // A new listener, which is told first how many sessions there are. "ping" is answered by "pong".
  net::WebSocketEvents listen(std::shared_ptr<net::WebSocket> socket, size_t sessions);

 private:
  void tell(std::string_view type, nlohmann::ordered_json data);

  net::WebSocketGroup listeners_;
};

}  // namespace hoist::service
