#include "net/http/websocket_session.h"

#include <algorithm>
#include <utility>

namespace hoist::net {

WebSocketSession::~WebSocketSession() { tell_closed(websocket_code::kLost); }

void WebSocketSession::open(WebSocketEvents events, size_t before) {
  events_ = std::move(events);
  before_ = before;
}

void WebSocketSession::tell_closed(uint16_t code) {
  socket_->open_ = false;
  if (std::exchange(told_, true)) return;
  if (events_.closed) events_.closed(code);
  events_ = {};  // which may hold the socket
}

WebSocketSession::Outcome WebSocketSession::receive(std::string_view bytes, HttpOutput& output) {
  pinged_ = false;
  while (!bytes.empty()) {
    bytes.remove_prefix(parser_.put(bytes));
    const Outcome outcome = handle(parser_.event(), output);
    if (outcome != Outcome::open) return outcome;
  }
  return Outcome::open;
}

WebSocketSession::Outcome WebSocketSession::handle(WebSocketParser::Event event,
                                                   HttpOutput& output) {
  using Event = WebSocketParser::Event;
  switch (event) {
    case Event::none:
    case Event::pong:
      return Outcome::open;
    case Event::text:
    case Event::binary:
      if (events_.message && !close_sent_) {
        events_.message(std::move(parser_.payload()), event == Event::binary);
      }
      return Outcome::open;
    case Event::ping:
      if (!close_sent_) add(websocket_frame(WebSocketOpcode::pong, parser_.payload()), output);
      return Outcome::open;
    case Event::close:
    case Event::failed:
      break;
  }
  tell_closed(parser_.code());
  // A client's code is sent back (section 5.5.1).
  if (!std::exchange(close_sent_, true)) add(websocket_close_frame(parser_.code(), {}), output);
  return event == Event::close ? Outcome::closed : Outcome::failed;
}

void WebSocketSession::deliver(std::string frame, bool last, HttpOutput& output) {
  if (close_sent_) return;
  close_sent_ = last;
  output.add(std::move(frame));
}

bool WebSocketSession::ping(HttpOutput& output) {
  if (std::exchange(pinged_, true) || close_sent_) return false;
  add(websocket_frame(WebSocketOpcode::ping, {}), output);
  return true;
}

void WebSocketSession::add(std::string frame, HttpOutput& output) {
  socket_->queued_ += frame.size();
  output.add(std::move(frame));
}

void WebSocketSession::sent(size_t bytes) {
  const size_t others = std::min(bytes, before_);
  before_ -= others;
  socket_->queued_ -= bytes - others;
}

}  // namespace hoist::net
