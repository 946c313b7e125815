// The progress bar of `hoist tune`: on standard error, where that is a terminal.
#pragma once

#include <chrono>
#include <string_view>

namespace hoist::cli {

class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done`: share of the whole, 0 to 1; `what` is being measured.
  void show(double done, std::string_view what);
  void clear();

 private:
  bool shown_ = false;
  const bool is_terminal_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hoist::cli
