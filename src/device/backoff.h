// How to wait for what a device, or another thread, writes to memory: look again and again at
// first, then sleep between two looks, at most an eighth of the time that has passed.
//
//   Backoff backoff(look_until, nap, longest_nap);
//   while (!is_there()) backoff.wait();
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace hoist::device {

// One wait. FineTimer (device/fine_timer.h) makes its naps as short as they should be.
class Backoff {
 public:
  using Clock = std::chrono::steady_clock;

  // Without sleeping for some 20 microseconds, and until `look_until`.
  Backoff(Clock::time_point look_until, std::chrono::nanoseconds nap,
          std::chrono::nanoseconds longest_nap)
      : look_until_(look_until), nap_(nap), longest_nap_(longest_nap) {}

  // Returns after a moment; whether it slept.
  bool wait() {
    if (looks_ < kLooks || Clock::now() < look_until_) {
      _mm_pause();
      // With more threads than processors, who waits would keep those with work from it.
      if (++looks_ % kLooksToAYield == 0) std::this_thread::yield();
      return false;
    }
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(nap_ + nap_ / 8, longest_nap_);
    return true;
  }

 private:
  static constexpr unsigned kLooks = 500;
  static constexpr unsigned kLooksToAYield = 64;

  const Clock::time_point look_until_;
  std::chrono::nanoseconds nap_;
  const std::chrono::nanoseconds longest_nap_;
  unsigned looks_ = 0;
};

}  // namespace hoist::device
