#include "cli/tune/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "cli/report.h"

namespace hoist::cli {

Progress::Progress() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show(double done, std::string_view what) {
  if (!is_terminal_) return;
  constexpr size_t kWidth = 30;
  const double share = std::clamp(done, 0.0, 1.0);
  const auto filled = static_cast<size_t>(share * kWidth);
  const double spent =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const std::string left =
      share > 0.02 ? fmt::format("{:.0f} s left", spent * (1 - share) / share) : std::string();
  print_error(fmt::format("\r\033[K[{}{}] {:3.0f} %  {}  {}", std::string(filled, '#'),
                          std::string(kWidth - filled, '.'), 100 * share, what, left));
  shown_ = true;
}

void Progress::clear() {
  if (shown_) print_error("\r\033[K");
  shown_ = false;
}

}  // namespace hoist::cli
