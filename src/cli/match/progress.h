// A line with count, rate and time to go on standard error, where that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>

namespace hoist::cli {

class PatternProgress {
 public:
  PatternProgress();
  ~PatternProgress();
  PatternProgress(const PatternProgress&) = delete;
  PatternProgress& operator=(const PatternProgress&) = delete;

  // Cheap; draws at most ten times a second. `total` is 0 where it is not known.
  void update(uint64_t patterns, uint64_t done, uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  bool shown_;
  bool drawn_once_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
};

}  // namespace hoist::cli
