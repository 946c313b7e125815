// The loop's side of a WebSocket connection: frames in, events out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http/output.h"
#include "net/http/websocket.h"
#include "net/http/websocket_frames.h"

namespace hoist::net {

class WebSocketSession {
 public:
  WebSocketSession(std::shared_ptr<WebSocket> socket, size_t most_message)
      : socket_(std::move(socket)), parser_(most_message) {}
  // Tells that the connection is gone, where no close has been told.
  ~WebSocketSession();
  WebSocketSession(const WebSocketSession&) = delete;
  WebSocketSession& operator=(const WebSocketSession&) = delete;

  // `before`: bytes of the output that are no frames.
  void open(WebSocketEvents events, size_t before);

  // Answers pings and closes into `output`. `closed`: no more frames come. `failed`: the client may
  // still send some. The connection ends when the output is sent.
  enum class Outcome { open, closed, failed };
  Outcome receive(std::string_view bytes, HttpOutput& output);
  // A frame by the socket. `last`: its close.
  void deliver(std::string frame, bool last, HttpOutput& output);
  // After a while without a byte. False: the client had not answered the ping before either.
  bool ping(HttpOutput& output);
  bool closing() const { return close_sent_; }  // waits for the client's close
  void sent(size_t bytes);                      // of the output

 private:
  Outcome handle(WebSocketParser::Event event, HttpOutput& output);
  void add(std::string frame, HttpOutput& output);
  void tell_closed(uint16_t code);

  const std::shared_ptr<WebSocket> socket_;
  WebSocketParser parser_;
  WebSocketEvents events_;
  size_t before_ = 0;
  bool close_sent_ = false;
  bool told_ = false;
  bool pinged_ = false;
};

}  // namespace hoist::net
