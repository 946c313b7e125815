// What the loops of one server share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http/message.h"
#include "net/http/rate_limit.h"
#include "net/http/router.h"
#include "net/http/tls.h"

namespace hoist::net {

// What is known of a request when its response goes out.
struct HttpExchange {
  std::string_view method;
  std::string_view pattern;  // of the route; "" where none was found
  std::string_view origin;   // the header Origin; "" without
  uint64_t begun_ns = 0;     // monotonic_ns() when its head was complete
};

struct HttpServerOptions {
  // "127.0.0.1:8000", "[::1]:0" (0: a free port), "unix:/path", or "systemd": the sockets that the
  // service manager has opened.
  std::vector<std::string> listen = {"127.0.0.1:8000"};
  unsigned threads = 0;  // loops; 0: one for each CPU
  // PEM files; with them every socket but a UNIX one speaks TLS.
  std::string certificate_file = {};
  std::string key_file = {};

  size_t most_head = 32 << 10;         // bytes of request line and headers; more is 431
  size_t most_body_memory = 1U << 30;  // bytes of all requests' bodies, together; more is 503
  size_t most_connections = 20'000;
  size_t most_under_way = 10'000;  // requests that wait for their reply; more is 503
  double most_per_second = 0;      // requests of one client's address; more is 429. 0: any
  size_t most_websocket_message = 1 << 20;
  size_t most_websocket_queue = 1 << 20;  // bytes sent that the client has not taken

  // Milliseconds.
  uint64_t head_ms = 10'000;   // for a whole head, from its first byte; else 408
  uint64_t body_ms = 30'000;   // for each further 16 KiB of a body; else 408
  uint64_t idle_ms = 75'000;   // between requests
  uint64_t write_ms = 30'000;  // for the client to take some of what is sent
  uint64_t linger_ms = 2'000;  // for a client that still sends when it is refused
  uint64_t ping_ms = 30'000;   // of silence, before a WebSocket is asked, and until it is closed

  // Sees every request that has a route, before its body is read: what it answers goes out instead.
  // Credentials are checked here. On the loops' threads.
  std::function<std::optional<HttpResponse>(const HttpRequest& request)> check = {};
  // Sees every response before it goes out, those of the server itself too, and may change it. On
  // the loops' threads.
  std::function<void(const HttpExchange& exchange, HttpResponse& response)> on_response = {};
};

// Since the start; `connections` and `under_way` are now.
struct HttpCounters {
  std::atomic<size_t> connections = 0;
  std::atomic<size_t> under_way = 0;
  std::atomic<uint64_t> accepted = 0;
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> refused = 0;   // connections and requests over a limit
  std::atomic<uint64_t> timeouts = 0;  // connections closed by a deadline
};

struct HttpServerState {
  HttpServerState(HttpServerOptions given, HttpRouter routes)
      : options(std::move(given)), router(std::move(routes)), rate(options.most_per_second) {}

  std::shared_ptr<TlsContext> tls() {
    const std::lock_guard lock(tls_mutex);
    return tls_context;
  }
  void set_tls(std::shared_ptr<TlsContext> context) {
    const std::lock_guard lock(tls_mutex);
    tls_context = std::move(context);
  }

  const HttpServerOptions options;
  const HttpRouter router;
  HttpCounters counters;
  const std::shared_ptr<std::atomic<size_t>> body_memory = std::make_shared<std::atomic<size_t>>(0);
  HttpRateLimit rate;

 private:
  std::mutex tls_mutex;
  std::shared_ptr<TlsContext> tls_context;
};

}  // namespace hoist::net
