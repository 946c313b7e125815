// A semaphore that is taken in the order of asking, for a part of the device that does one thing
// after the other (a copy engine): a client with much to copy does not hold up one with little for
// longer than a piece takes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace hoist::daemon {

class FifoSemaphore {
 public:
  // `at_once`: so many may hold it together, so that the next is ready when one ends.
  explicit FifoSemaphore(uint64_t at_once) : at_once_(at_once) {}

  class Hold {
   public:
    explicit Hold(FifoSemaphore& semaphore) : semaphore_(semaphore) {
      std::unique_lock lock(semaphore_.mutex_);
      const uint64_t number = semaphore_.taken_++;
      semaphore_.changed_.wait(lock,
                               [&] { return number < semaphore_.ended_ + semaphore_.at_once_; });
    }
    ~Hold() {
      {
        const std::lock_guard lock(semaphore_.mutex_);
        ++semaphore_.ended_;
      }
      semaphore_.changed_.notify_all();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    FifoSemaphore& semaphore_;
  };

 private:
  const uint64_t at_once_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t taken_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace hoist::daemon
