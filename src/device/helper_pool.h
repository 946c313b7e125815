// Threads that join a piece of work which its caller has begun. Unlike ThreadPool (base/threads.h)
// it serves several callers at once, and each is sure to get on: with nobody idle it works alone.
//
//   HelperPool helpers(7);
//   helpers.run(8, [&](int worker) { while (std::optional<Chunk> chunk = chunks.take()) … });
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

class HelperPool {
 public:
  explicit HelperPool(int helpers) : helpers_(helpers), shared_(std::make_unique<Shared>()) {}
  // No run() may be going on.
  ~HelperPool();
  HelperPool(const HelperPool&) = delete;
  HelperPool& operator=(const HelperPool&) = delete;

  // Calls body(0) here, and body(1) … body(workers - 1) on those helpers that have nothing else to
  // do before body(0) returns; returns when all that were called have returned. A helper gets the
  // same number each time, where it can: what belongs to a worker is in its cache. Where there is
  // no memory to tell them, body(0) alone is called. `body` must not throw.
  void run(int workers, const std::function<void(int)>& body);

 private:
  struct Work {
    const std::function<void(int)>* body;
    std::vector<bool> given;      // by worker
    int left;                     // workers to give
    std::atomic<int> active = 0;  // changes under the lock
  };

  bool offer(Work& work, int workers);
  void start_helpers();  // under the lock
  static int give_worker(Work& work, size_t best);
  void wake_two();
  void help(size_t number);

  const OwnerProcess process_;
  const int helpers_;
  // With the helpers, who wait for what is in it: a child leaves it behind.
  struct Shared {
    std::mutex mutex;
    std::condition_variable offered;
    std::condition_variable left;
    std::deque<Work*> offers;  // with workers to give
    std::vector<std::thread> threads;
    bool started = false;
    bool stopping = false;
  };
  std::unique_ptr<Shared> shared_;
};

}  // namespace hoist::device
