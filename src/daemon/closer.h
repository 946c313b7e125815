// Closes descriptors that clients sent, and sockets in which such may lie unread, on a thread of
// its own: close() waits for as long as their owner likes (a file of a FUSE server that does not
// answer, a connection that lingers). Where one hangs, those behind it stay open, until the daemon
// has no more descriptors for newcomers; who is served does not notice.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace hoist::daemon {

class Closer {
 public:
  static Result<std::unique_ptr<Closer>> create();
  // Does not wait for what hangs.
  ~Closer();
  Closer(const Closer&) = delete;
  Closer& operator=(const Closer&) = delete;

  void close(UniqueFd descriptor);
  // A connection, whose other end hears of it at once.
  void hang_up(UniqueFd socket);
  void close(std::vector<UniqueFd> descriptors);

 private:
  struct State;
  explicit Closer(std::shared_ptr<State> state) : state_(std::move(state)) {}

  const std::shared_ptr<State> state_;  // the thread's, too, which may outlive this
  std::thread thread_;
};

}  // namespace hoist::daemon
