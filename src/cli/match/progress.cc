#include "cli/match/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <string>

#include "cli/report.h"

namespace hoist::cli {

PatternProgress::PatternProgress() : shown_(::isatty(STDERR_FILENO) == 1) {}

PatternProgress::~PatternProgress() {
  if (drawn_once_) print_error("\r\x1b[K");
}

void PatternProgress::update(uint64_t patterns, uint64_t done, uint64_t total) {
  if (!shown_ || patterns % 256 != 0) return;
  const auto now = Clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  drawn_once_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line =
      fmt::format("\r{} patterns, {:.0f}/s", patterns, static_cast<double>(patterns) / seconds);
  if (total != 0 && done != 0 && done <= total) {
    const double share = static_cast<double>(done) / static_cast<double>(total);
    line += fmt::format(", {:.0f} %, {:.0f} s to go", 100 * share, seconds / share - seconds);
  }
  print_error(line + "\x1b[K");
}

}  // namespace hoist::cli
