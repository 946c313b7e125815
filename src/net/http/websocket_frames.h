// WebSocket's frames (RFC 6455), the server's side, without I/O. libwslay does the same; Debian has
// it as a shared library only, which every program with this server would then need at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hoist::net {

enum class WebSocketOpcode : uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

namespace websocket_code {
inline constexpr uint16_t kNormal = 1000;
inline constexpr uint16_t kGoingAway = 1001;
inline constexpr uint16_t kProtocolError = 1002;
inline constexpr uint16_t kNone = 1005;     // a close frame without a code; never sent
inline constexpr uint16_t kLost = 1006;     // no close frame came; never sent
inline constexpr uint16_t kBadData = 1007;  // text that is no UTF-8
inline constexpr uint16_t kPolicy = 1008;
inline constexpr uint16_t kTooLarge = 1009;
inline constexpr uint16_t kTryLater = 1013;  // the client was too slow to be told everything
}  // namespace websocket_code

class WebSocketParser {
 public:
  enum class Event { none, text, binary, ping, pong, close, failed };

  explicit WebSocketParser(size_t most_message) : most_message_(most_message) {}

  // Takes bytes from the front, up to the end of one message or control frame, and returns how
  // many. It keeps what it has taken: give it only what follows.
  size_t put(std::string_view bytes);

  Event event() const { return event_; }  // of the last put()
  std::string& payload() {
    return payload_;
  }                                        // of the message or control frame; the close's reason
  uint16_t code() const { return code_; }  // of `close`, or why it failed

 private:
  void fail(uint16_t code);
  bool read_header();
  void end_frame();
  void end_close();

  const size_t most_message_;
  Event event_ = Event::none;
  uint16_t code_ = 0;
  std::string header_;  // of the frame, until it is complete
  bool in_frame_ = false;
  bool final_ = false;
  WebSocketOpcode opcode_ = WebSocketOpcode::continuation;
  uint64_t left_ = 0;  // of the frame's payload
  size_t mask_at_ = 0;
  unsigned char mask_[4] = {};
  bool in_message_ = false;
  WebSocketOpcode message_opcode_ = WebSocketOpcode::text;
  std::string message_;  // the fragments so far
  std::string control_;
  std::string payload_;
};

// One whole frame of a server.
std::string websocket_frame(WebSocketOpcode opcode, std::string_view payload);
std::string websocket_close_frame(uint16_t code, std::string_view reason);
// Sec-WebSocket-Accept for the client's Sec-WebSocket-Key; "" where the key is none.
std::string websocket_accept(std::string_view key);

}  // namespace hoist::net
