// What the loops of one server share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/http/router.h"

namespace hoist::net {

struct HttpServerOptions {
  // "127.0.0.1:8000", "[::1]:0" (0: a free port), "unix:/path", or "systemd": the sockets that the
  // service manager has opened.
  std::vector<std::string> listen = {"127.0.0.1:8000"};
  unsigned threads = 0;         // loops; 0: one for each CPU
  size_t most_head = 32 << 10;  // bytes of request line and headers; more is 431
  size_t most_connections = 20'000;
  size_t most_under_way = 10'000;  // requests that wait for their reply; more is 503

  // Milliseconds.
  uint64_t head_ms = 10'000;   // for a whole head, from its first byte
  uint64_t body_ms = 30'000;   // for each further 16 KiB of a body
  uint64_t idle_ms = 75'000;   // between requests
  uint64_t write_ms = 30'000;  // for the client to take some of what is sent
  uint64_t linger_ms = 2'000;  // for a client that still sends when it is refused
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
      : options(std::move(given)), router(std::move(routes)) {}

  const HttpServerOptions options;
  const HttpRouter router;
  HttpCounters counters;
};

}  // namespace hoist::net
