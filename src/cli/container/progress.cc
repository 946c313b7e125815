#include "cli/container/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "cli/report.h"

namespace hoist::cli {

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), shown_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (drawn_once_) print_error("\r\x1b[K");
}

void ProgressLine::update(uint64_t done, uint64_t total) {
  const auto now = Clock::now();
  if (!shown_ || total == 0 || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  drawn_once_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done) / seconds;
  const double left = static_cast<double>(total - std::min(done, total)) / std::max(rate, 1.0);
  print_error(fmt::format("\r{}: {:.0f} %, {:.2f} GB/s, {:.0f} s to go\x1b[K", what_,
                          100.0 * static_cast<double>(done) / static_cast<double>(total),
                          rate / 1e9, left));
}

}  // namespace hoist::cli
