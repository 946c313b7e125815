#include "net/http/websocket.h"

#include <algorithm>
#include <utility>

namespace hoist::net {

bool WebSocket::send(WebSocketOpcode opcode, std::string_view payload) {
  return open_ && send_frame(websocket_frame(opcode, payload));
}

bool WebSocket::send_frame(std::string frame) {
  if (!open_) return false;
  // An empty queue takes any message: one that is larger than the queue must be sendable, too.
  const size_t before = queued_.fetch_add(frame.size());
  if (before > 0 && before + frame.size() > most_queued_) {
    queued_ -= frame.size();
    return false;
  }
  path_->deliver(connection_, std::move(frame), false);
  return true;
}

void WebSocket::close(uint16_t code, std::string_view reason) {
  if (!open_.exchange(false)) return;
  std::string frame = websocket_close_frame(code, reason);
  queued_ += frame.size();
  path_->deliver(connection_, std::move(frame), true);
}

void WebSocketGroup::drop_closed() {
  std::erase_if(sockets_, [](const auto& socket) { return !socket->open(); });
}

void WebSocketGroup::add(std::shared_ptr<WebSocket> socket) {
  const std::lock_guard lock(mutex_);
  drop_closed();
  sockets_.push_back(std::move(socket));
}

void WebSocketGroup::broadcast(std::string_view text) {
  const std::string frame = websocket_frame(WebSocketOpcode::text, text);
  const std::lock_guard lock(mutex_);
  drop_closed();
  for (const auto& socket : sockets_) {
    if (!socket->send_frame(frame)) {
      socket->close(websocket_code::kTryLater, "too slow to be told everything");
    }
  }
}

size_t WebSocketGroup::size() {
  const std::lock_guard lock(mutex_);
  drop_closed();
  return sockets_.size();
}

}  // namespace hoist::net
