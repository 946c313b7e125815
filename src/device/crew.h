// Threads that join a piece of work which its caller has begun. Unlike ThreadPool (base/threads.h)
// it serves several callers at once, and each is sure to get on: with nobody idle it works alone.
//
//   Crew crew(7);
//   crew.run(8, [&](int lane) { while (std::optional<Chunk> chunk = chunks.take()) … });
//
// Thread-safe. Threads start at the first run(), block between two, and take no signals. In a child
// after fork() there are no helpers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fork.h"

namespace hoist::device {

class Crew {
 public:
  explicit Crew(int helpers) : helpers_(helpers), shared_(std::make_unique<Shared>()) {}
  // No run() may be going on.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls body(0) here, and body(1) … body(lanes - 1) on those helpers that have nothing else to do
  // before body(0) returns; returns when all that were called have returned. A helper gets the same
  // number each time, where it can: what belongs to a lane is in its cache. Where there is no
  // memory to tell them, body(0) alone is called. `body` must not throw.
  void run(int lanes, const std::function<void(int)>& body);

 private:
  struct Work {
    const std::function<void(int)>* body;
    std::vector<bool> given;      // by lane
    int left;                     // lanes to give
    std::atomic<int> active = 0;  // changes under the lock
  };

  bool offer(Work& work, int lanes);
  void start_helpers();  // under the lock
  static int give_lane(Work& work, size_t best);
  void wake_two();
  void help(size_t number);

  const OwnerProcess process_;
  const int helpers_;
  // With the helpers, who wait for what is in it: a child leaves it behind.
  struct Shared {
    std::mutex mutex;
    std::condition_variable offered;
    std::condition_variable left;
    std::deque<Work*> offers;  // with lanes to give
    std::vector<std::thread> threads;
    bool started = false;
    bool stopping = false;
  };
  std::unique_ptr<Shared> shared_;
};

}  // namespace hoist::device
