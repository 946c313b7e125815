// An HTTP/1.1 server: one loop a thread, each connection on one of them. Handlers run on the loops'
// threads, so several at once; replies may come from any thread.
//
//   HttpRouter router;
//   router.add("GET", "/hello/{name}", [](HttpRequest request, HttpReply reply) {
//     reply.send({.content_type = "text/plain", .body = "hello " + request.parameters[0]});
//   });
//   auto server = HttpServer::create({.listen = {"127.0.0.1:8000"}}, std::move(router));
//   Status ended = (*server)->run();
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http/loop.h"
#include "net/http/router.h"
#include "net/http/server_state.h"
#include "net/listener.h"

namespace hoist::net {

class HttpServer {
 public:
  // Listens at once; nobody is answered before run(). `io` where an address is taken,
  // `invalid_argument` where it is none. Raises the process's soft limit of open files where that
  // is too low for `most_connections`, as far as the hard limit allows.
  static Result<std::unique_ptr<HttpServer>> create(HttpServerOptions options, HttpRouter router);
  ~HttpServer();

  // Until stop(). The first loop runs on the caller's thread. Once.
  Status run();
  // From any thread, and from a signal's handler. Stops listening, lets requests under way finish
  // for at most `grace_ms`, and closes the rest. A second call may shorten the time.
  void stop(uint64_t grace_ms = 10'000);

  // Reads certificate and key again: later connections have them. Where that fails, the old ones
  // stay. From any thread.
  Status reload_certificate();

  // As listening_address() writes them.
  const std::vector<std::string>& addresses() const { return addresses_; }
  const HttpCounters& counters() const { return state_.counters; }
  size_t body_memory() const { return *state_.body_memory; }  // bytes of requests' bodies, now

 private:
  HttpServer(HttpServerOptions options, HttpRouter router);
  void receive(UniqueFd socket);
  int each_time();
  void stop_listening();

  HttpServerState state_;
  std::vector<UniqueFd> sockets_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<HttpLoop>> loops_;
  std::vector<std::unique_ptr<Listener>> listeners_;  // in the first loop
  static constexpr uint64_t kServes = ~uint64_t{0};
  std::atomic<uint64_t> grace_ms_ = kServes;  // as stop() wants it
  uint64_t drains_ms_ = kServes;              // as the loops were told
};

}  // namespace hoist::net
