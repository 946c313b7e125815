// Threads that join a piece of work which its caller has begun. Unlike ThreadPool (base/threads.h)
// it serves several callers at once, and each is sure to get on: with nobody idle it works alone.
//
//   Crew crew(7);
//   crew.run(8, [&](int lane) { while (std::optional<Chunk> chunk = chunks.take()) … });
//
// Thread-safe. Threads start at the first run(), block between two, and take no signals. Not usable
// in a child after fork().
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hoist::device {

class Crew {
 public:
  explicit Crew(int helpers) : helpers_(helpers) {}
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

  const int helpers_;
  std::mutex mutex_;
  std::condition_variable offered_;
  std::condition_variable left_;
  std::deque<Work*> offers_;  // with lanes to give
  std::vector<std::thread> threads_;
  bool started_ = false;
  bool stopping_ = false;
};

}  // namespace hoist::device
