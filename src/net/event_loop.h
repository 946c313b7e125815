// epoll: a handler for each descriptor that becomes readable, or whose other end is gone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "base/file.h"
#include "base/result.h"

namespace hoist::net {

class EventLoop {
 public:
  static Result<EventLoop> create();

  // Until remove(); the descriptor stays the caller's. Handlers may add and remove, themselves too.
  Status add(int fd, std::function<void()> handler);
  void remove(int fd);

  // Calls the handlers of what is ready, waiting at most `milliseconds` (-1: for ever).
  Status run_once(int milliseconds);

 private:
  struct Watched {
    uint32_t time;  // that this number is watched: what is told of an earlier time is no more true
    std::shared_ptr<std::function<void()>> handler;
  };

  UniqueFd epoll_;
  std::unordered_map<int, Watched> handlers_;
  uint32_t times_ = 0;
};

}  // namespace hoist::net
