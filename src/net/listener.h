// A listening socket in the loop. While there are no descriptors for those who come it rests: they
// stay in the backlog, and would wake the loop without end.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "net/event_loop.h"

namespace hoist::net {

class Listener {
 public:
  // `listener` stays the caller's, and so does what is left in the loop: stop().
  Listener(EventLoop& loop, int listener, std::function<void(UniqueFd socket)> receive)
      : loop_(loop), listener_(listener), receive_(std::move(receive)) {}

  Status start();
  void stop();
  // Ends a rest whose time is over. Milliseconds until then; -1: it does not rest.
  int wake();

 private:
  void accept_some();
  void rest();

  EventLoop& loop_;
  const int listener_;
  const std::function<void(UniqueFd socket)> receive_;
  bool wanted_ = false;
  bool listening_ = false;
  uint64_t rests_until_ns_ = 0;
};

}  // namespace hoist::net
