// How to wait for what a device, or another thread, writes to memory: look again and again at
// first, then sleep between two looks.
//
//   Backoff backoff(look_until, nap);
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
  Backoff(Clock::time_point look_until, std::chrono::nanoseconds nap)
      : look_until_(look_until), nap_(nap) {}

  // Whether wait() would sleep.
  bool will_sleep() const { return looks_ >= kLooks && Clock::now() >= look_until_; }

  // Returns after a moment; whether it slept.
  bool wait() {
    if (!will_sleep()) {
      _mm_pause();
      // With more threads than processors, who waits would keep those with work from it.
      if (++looks_ % kLooksToAYield == 0) std::this_thread::yield();
      return false;
    }
    std::this_thread::sleep_for(nap_);
    return true;
  }

 private:
  static constexpr unsigned kLooks = 500;
  static constexpr unsigned kLooksToAYield = 64;

  const Clock::time_point look_until_;
  const std::chrono::nanoseconds nap_;
  unsigned looks_ = 0;
};

// One wait, however long: the naps grow, as who has waited long may be woken a little later, by a
// sixty-fourth of that.
class PatientBackoff {
 public:
  using Clock = Backoff::Clock;

  explicit PatientBackoff(Clock::time_point look_until) : backoff_(look_until, {}) {}

  void wait() {
    using std::chrono::microseconds;
    if (!backoff_.will_sleep()) {
      backoff_.wait();
      return;
    }
    waited_ = Clock::now() - start_;
    std::this_thread::sleep_for(
        std::clamp<Clock::duration>(waited_ / 64, microseconds(20), microseconds(5000)));
  }

  // How long until the last nap; none: it has not slept yet.
  Clock::duration waited() const { return waited_; }

 private:
  const Clock::time_point start_ = Clock::now();
  Backoff backoff_;
  Clock::duration waited_ = {};
};

}  // namespace hoist::device
