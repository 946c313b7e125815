#include "base/log.h"

#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>

#include "base/file.h"
#include "base/options.h"

namespace hoist {
namespace {

constexpr size_t kMaximumLine = 1024;
constexpr const char* kNames[] = {"error", "warn", "info", "debug"};
std::atomic<bool> to_stderr{false};

LogLevel chosen_level() {
  const char* text = option_text(OptionId::log);
  for (int i = 0; i < 4; ++i) {
    if (::strcasecmp(text, kNames[i]) == 0) return static_cast<LogLevel>(i);
  }
  return LogLevel::warn;
}

}  // namespace

void log_to_stderr() { to_stderr = true; }

bool log_enabled(LogLevel level) {
  if (level > chosen_level()) return false;
  return to_stderr || option_text(OptionId::log_file)[0] != '\0';
}

void log_line(LogLevel level, std::string_view message) {
  char time_text[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (::localtime_r(&now, &local) != nullptr) {
    std::strftime(time_text, sizeof time_text, "%FT%T", &local);
  }
  std::string line = fmt::format("{} hoist[{}] {}: {}", time_text, ::getpid(),
                                 kNames[static_cast<int>(level)], message.substr(0, kMaximumLine));
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  line += '\n';
  const char* path = option_text(OptionId::log_file);
  // Whatever stands at the path must not block us.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int file = path[0] != '\0' ? ::open(path, kFlags, 0600) : -1;
  const int fd = file >= 0 ? file : (to_stderr ? STDERR_FILENO : -1);
  // A log line that cannot be written is dropped: a diagnostic must never stop the work.
  if (fd >= 0 && may_grow(fd, line.size())) (void)!::write(fd, line.data(), line.size());
  if (file >= 0) ::close(file);
}

}  // namespace hoist
