// A line with share, rate and time to go on standard error, where that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hoist::cli {

class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Draws at most ten times a second.
  void update(uint64_t done, uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  bool shown_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
  bool drawn_once_ = false;
};

}  // namespace hoist::cli
