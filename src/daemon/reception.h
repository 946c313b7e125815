// Connections that have not said what they want: each must say it in one message and within a
// moment, and there are only so many at once, where the one who has to go is of the user that has
// most: strangers who connect and wait, or talk nonsense, keep nobody else out.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "base/file.h"
#include "base/result.h"
#include "daemon/closer.h"
#include "daemon/statistics.h"
#include "device/remote/message.h"
#include "net/event_loop.h"
#include "net/listener.h"

namespace hoist::daemon {

class Reception {
 public:
  // Takes over a connection whose first message is there.
  using Visitor = std::function<void(UniqueFd socket, const device::remote::Peer& peer,
                                     device::remote::Received first)>;

  // `listener` stays the caller's, who must remove what is left by close() before it goes.
  static Result<std::unique_ptr<Reception>> open(net::EventLoop& loop, Closer& closer, int listener,
                                                 Statistics& statistics, Visitor visitor);

  // Drops those whose time is over. Milliseconds until the next is; -1: nobody waits.
  int expire();
  // Takes no more connections and drops those that wait.
  void close();

 private:
  struct Candidate {
    UniqueFd socket;
    device::remote::Peer peer;
    uint64_t until_ns;
  };
  using Place = std::list<Candidate>::iterator;

  Reception(net::EventLoop& loop, Closer& closer, int listener, Statistics& statistics,
            Visitor visitor);
  void receive(UniqueFd socket);
  void make_room();
  void hear(Place place);
  void drop(Place place);

  net::EventLoop& loop_;
  Closer& closer_;
  net::Listener listening_;
  Statistics& statistics_;
  const Visitor visitor_;
  std::list<Candidate> candidates_;  // oldest first
};

}  // namespace hoist::daemon
