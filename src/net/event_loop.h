// epoll: a handler for each descriptor that becomes ready, or whose other end is gone. One
// thread's.
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
  // Calls when it is readable or its other end is gone.
  Status add(int fd, std::function<void()> handler);
  // Calls for what `interest` asks for; `broken` is told whatever it asks for.
  struct Interest {
    bool read = false;
    bool write = false;
    bool end = false;
    bool operator==(const Interest&) const = default;
  };
  struct Ready {
    bool read = false;  // bytes, or their end
    bool write = false;
    bool end = false;     // a socket's other side sends no more, though bytes may wait to be read
    bool broken = false;  // an error, or both directions are closed
  };
  Status watch(int fd, Interest interest, std::function<void(Ready)> handler);
  Status change(int fd, Interest interest);
  void remove(int fd);

  // Calls the handlers of what is ready, waiting at most `milliseconds` (-1: for ever).
  Status run_once(int milliseconds);

 private:
  struct Watched {
    uint32_t time;  // that this number is watched: what is told of an earlier time is no more true
    std::shared_ptr<std::function<void(Ready)>> handler;
  };
  Status insert(int fd, uint32_t events, std::function<void(Ready)> handler);

  UniqueFd epoll_;
  std::unordered_map<int, Watched> handlers_;
  uint32_t times_ = 0;
};

}  // namespace hoist::net
