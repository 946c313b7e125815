#include "ops/gunzip/report.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/crash_fallback.h"
#include "base/file.h"

namespace hoist::gunzip {

std::string error_text(const std::string& name, int error) {
  return name + ": " + std::strerror(error);
}

void Report::error(std::string_view text) {
  note(text);
  merge(kError);
}

void Report::error_on_new_line(std::string_view text) {
  print("\n");
  error(text);
}

void Report::warning(std::string_view text) {
  if (!quiet_) note(text);
  warn();
}

void Report::warning_on_new_line(std::string_view text) {
  if (!quiet_) print("\n");
  warning(text);
}

void Report::loud_warning(std::string_view text) {
  note(text);
  warn();
}

void Report::note(std::string_view text) { print(program_ + ": " + std::string(text) + "\n"); }

void Report::print(std::string_view text) {
  if (!line_begin_.empty()) {
    const std::string begin = std::exchange(line_begin_, {});
    print(begin);
  }
  if (held_) {
    pending_ += text;
    return;
  }
  commit_run();
  static_cast<void>(write_full(STDERR_FILENO, text.data(), text.size()));  // nobody to tell
}

void Report::merge(int status) {
  if (status != kOk && exit_status_ != kError) exit_status_ = status;
}

void Report::release() {
  held_ = false;
  if (!pending_.empty()) print(std::exchange(pending_, {}));
}

}  // namespace hoist::gunzip
