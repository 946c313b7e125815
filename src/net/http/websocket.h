// WebSocket connections of an HttpServer. A handler gets the connection's socket, keeps it, and any
// thread sends by it:
//
//   router.add_websocket("/events", [&](const HttpRequest&, std::shared_ptr<WebSocket> socket) {
//     group.add(socket);
//     return WebSocketEvents{.message = [socket](std::string text, bool) { socket->send_text(text);
//     }};
//   });
//   group.broadcast("{\"event\":\"learned\"}");
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/message.h"
#include "net/http/websocket_frames.h"

namespace hoist::net {

// Where frames go: a connection's loop, or a test.
class WebSocketPath {
 public:
  virtual ~WebSocketPath() = default;
  // From any thread. `last`: the connection closes when the client has answered.
  virtual void deliver(uint64_t connection, std::string frame, bool last) = 0;
};

class WebSocket {
 public:
  WebSocket(std::shared_ptr<WebSocketPath> path, uint64_t connection, size_t most_queued)
      : path_(std::move(path)), connection_(connection), most_queued_(most_queued) {}

  // From any thread. False: nothing is sent, for the socket is closed or the client has not yet
  // taken `most_queued` bytes of earlier messages. Text must be UTF-8.
  bool send_text(std::string_view text) { return send(WebSocketOpcode::text, text); }
  bool send_binary(std::string_view bytes) { return send(WebSocketOpcode::binary, bytes); }
  // Sends a close frame behind what is queued; nothing after it.
  void close(uint16_t code = websocket_code::kNormal, std::string_view reason = {});
  bool open() const { return open_; }

 private:
  friend class WebSocketGroup;
  friend class WebSocketSession;

  bool send(WebSocketOpcode opcode, std::string_view payload);
  bool send_frame(std::string frame);

  const std::shared_ptr<WebSocketPath> path_;
  const uint64_t connection_;
  const size_t most_queued_;
  std::atomic<bool> open_ = true;
  std::atomic<size_t> queued_ = 0;  // bytes not yet taken by the client's system
};

// What the handler wants to hear, on the loop's thread.
struct WebSocketEvents {
  std::function<void(std::string message, bool binary)> message = {};
  // Once, last. The client's code, or websocket_code::kLost.
  std::function<void(uint16_t code)> closed = {};
};

using WebSocketHandler =
    std::function<WebSocketEvents(const HttpRequest& request, std::shared_ptr<WebSocket> socket)>;

// Sockets that are told the same. All calls from any thread.
class WebSocketGroup {
 public:
  void add(std::shared_ptr<WebSocket> socket);
  // To all that are open, in one order. A socket whose queue is full would miss it: it is closed
  // with kTryLater.
  void broadcast(std::string_view text);
  size_t size();  // that are open

 private:
  void drop_closed();

  std::mutex mutex_;
  std::vector<std::shared_ptr<WebSocket>> sockets_;
};

}  // namespace hoist::net
