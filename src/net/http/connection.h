// One client's connection: requests in, responses out, in order. One request is under way at a
// time; what the client sends meanwhile waits in the socket, which is the back-pressure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/http/deadlines.h"
#include "net/http/message.h"
#include "net/http/output.h"
#include "net/http/parser.h"
#include "net/http/router.h"
#include "net/http/transport.h"

namespace hoist::net {

class HttpLoop;

class HttpConnection {
 public:
  HttpConnection(HttpLoop& loop, UniqueFd socket, std::string peer, uint64_t id);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  Status start();
  void answer(HttpResponse response);  // to the request that is under way
  void expire();                       // its deadline is over
  void finish();                       // the server drains: no request after this one
  void close();

 private:
  struct Incoming;  // a request that is being read or is under way

  void ready(EventLoop::Ready ready);
  void read_some();
  void process(std::string_view bytes);
  size_t take(std::string_view bytes);
  void begin_request();
  void take_body(std::string_view piece);
  void dispatch();
  void refuse(int status, std::string allow = {});
  void give_up(int status);
  void respond(HttpResponse response);
  void settle();
  void linger();
  void set_interest(bool read, bool write);

  HttpLoop& loop_;
  Transport transport_;
  const std::string peer_;
  const uint64_t id_;
  HttpDeadlines::Place deadline_;
  std::string input_;  // read and not yet parsed
  std::unique_ptr<Incoming> incoming_;
  HttpOutput output_;
  EventLoop::Interest interest_;
  bool processing_ = false;
  bool under_way_ = false;  // the handler has the request
  bool last_ = false;       // closes when all is sent
  bool lingers_ = false;
  bool closed_ = false;
};

}  // namespace hoist::net
