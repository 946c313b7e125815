// How long something takes, for diagnostics.
#pragma once

#include <chrono>

namespace hoist {

class Stopwatch {
 public:
  // Since it was made, or since the last restart().
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }
  // Gives the time up to now.
  double restart() {
    const double passed = milliseconds();
    start_ = Clock::now();
    return passed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace hoist
