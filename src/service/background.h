// A few threads for what takes longer than other requests should wait (pools.h).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hoist::service {

class Background {
 public:
  explicit Background(size_t threads, size_t most_waiting = 64)
      : most_threads_(threads), most_waiting_(most_waiting) {}
  ~Background() { end(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // False where too much waits already, or no thread is to be had; `work` is then not run.
  bool run(std::function<void()> work);
  // What runs is finished; what waits is dropped, and with it the replies that it holds.
  void end();

 private:
  void work();

  const size_t most_threads_;
  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool ended_ = false;
};

}  // namespace hoist::service
