// Answers HTTP requests with one text, whatever they ask for: what Prometheus needs. Debian's
// cpp-httplib is a shared library that brings OpenSSL and brotli, too much for a process that
// everybody's data passes through.
//
// Few connections at once, each for a moment; a request is read up to its empty line, and nothing
// in it is acted upon.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/listener.h"

namespace hoist::net {

class MetricsServer {
 public:
  // `loop` must outlive it.
  MetricsServer(EventLoop& loop, UniqueFd listener, std::function<std::string()> text);
  ~MetricsServer();
  Status start();

  // Drops those whose time is over. Milliseconds until the next is; -1: nobody waits.
  int expire();

 private:
  struct Visit {
    UniqueFd socket;
    uint64_t until_ns;
    std::string request;
  };
  using Place = std::list<Visit>::iterator;

  void receive(UniqueFd socket);
  void read(Place place);
  void drop(Place place);

  EventLoop& loop_;
  const UniqueFd listener_;
  Listener listening_;
  const std::function<std::string()> text_;
  std::list<Visit> visits_;  // oldest first
};

}  // namespace hoist::net
