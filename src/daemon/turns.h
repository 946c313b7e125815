// Turns at a part of the device that does one thing after the other (a copy engine): whoever wants
// one waits behind those who came before, so a client with much to copy does not hold up one with
// little for longer than a piece takes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace hoist::daemon {

class Turns {
 public:
  // `at_once`: that many may have their turn together, so that the next is ready when one ends.
  explicit Turns(uint64_t at_once) : at_once_(at_once) {}

  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(turns) {
      std::unique_lock lock(turns_.mutex_);
      const uint64_t number = turns_.taken_++;
      turns_.changed_.wait(lock, [&] { return number < turns_.ended_ + turns_.at_once_; });
    }
    ~Turn() {
      {
        const std::lock_guard lock(turns_.mutex_);
        ++turns_.ended_;
      }
      turns_.changed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Turns& turns_;
  };

 private:
  const uint64_t at_once_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t taken_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace hoist::daemon
