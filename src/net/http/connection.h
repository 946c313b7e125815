// One client's connection: requests in, responses out, in order. One request is under way at a
// time; what the client sends meanwhile waits in the socket, which is the back-pressure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/http/deadlines.h"
#include "net/http/message.h"
#include "net/http/output.h"
#include "net/http/transport.h"
#include "net/http/websocket_session.h"

namespace hoist::net {

class HttpLoop;

class HttpConnection {
 public:
  HttpConnection(HttpLoop& loop, Transport transport, std::string peer, uint64_t id);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  Status start();
  void answer(HttpResponse response);          // to the request that is under way
  std::stop_token client_gone();               // of the request that is under way
  void deliver(std::string frame, bool last);  // of its WebSocket
  void resume();                               // a body's pipe has room, or a source has more
  void expire();                               // its deadline is over
  void finish();                               // the server drains: no request after this one
  void close();

 private:
  struct Incoming;                          // a request that is being read or is under way
  static constexpr size_t kChunkHead = 10;  // bytes: eight digits and CRLF

  // connection.cc: bytes and time.
  void ready(EventLoop::Ready ready);
  bool may_read() const;
  bool may_parse() const;
  void read_some();
  void read_received();
  void process(std::string_view bytes);
  void go_on();
  void settle();
  bool fill_output();
  void add_piece(std::string piece);
  bool send_some();
  void wait_for_next(bool progress);
  void linger();
  void set_interest(EventLoop::Interest interest);

  // requests.cc: requests and responses.
  size_t take(std::string_view bytes);
  void begin_request();
  bool is_in_time();
  bool admit();
  void take_body(std::string_view piece);
  void end_body();
  void dispatch();
  void begin_upload();
  bool watches_end() const;
  void ask_client();
  void begin_websocket();
  void refuse(int status);
  void refuse(HttpResponse response);
  void give_up(int status);
  void respond(HttpResponse response);

  HttpLoop& loop_;
  Transport transport_;
  const std::string peer_;
  const uint64_t id_;
  HttpDeadlines::Place deadline_;
  std::string input_;  // read and not yet parsed
  std::unique_ptr<Incoming> incoming_;
  std::shared_ptr<HttpBodySource> source_;  // of the response that is being sent
  std::unique_ptr<WebSocketSession> websocket_;
  HttpOutput output_;
  EventLoop::Interest interest_;
  bool in_chunks_ = false;  // the source's pieces
  bool source_waits_ = false;
  bool processing_ = false;
  bool under_way_ = false;  // the handler has the request
  bool last_ = false;       // closes when all is sent
  bool lingers_ = false;
  bool closed_ = false;
};

}  // namespace hoist::net
