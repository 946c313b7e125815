#include "ops/hash/report.h"

#include <limits.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/crash_fallback.h"
#include "ops/hash/messages.h"

namespace hoist::hash {
namespace {

constexpr size_t kFileBytes = 64 << 10;

// How many bytes of lines go out together. Several processes may share a pipe, where what is
// written at once stays together up to PIPE_BUF; nobody waits for the lines of a file.
size_t bytes_to_keep() {
  struct stat status;
  const bool is_file = fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
  return is_file ? kFileBytes : PIPE_BUF;
}

// False with errno set (0 for an error of long ago) when not everything written has arrived.
bool close_stream(FILE* stream) {
  const bool pending = __fpending(stream) != 0;
  const bool failed_before = std::ferror(stream) != 0;
  errno = 0;
  const bool failed_now = std::fclose(stream) != 0;
  if (failed_before && !failed_now) errno = 0;
  return !failed_before && !(failed_now && (pending || errno != EBADF));
}

}  // namespace

Report::Report(std::string program) : program_(std::move(program)), kept_bytes_(bytes_to_keep()) {
  static char buffer[kFileBytes];  // the stream's own holds a page, and would split larger writes
  std::setvbuf(stdout, kept_bytes_ == kFileBytes ? buffer : nullptr, _IOLBF, kept_bytes_);
}

void Report::output(std::string_view text, bool newline) {
  if (newline && text.size() <= kept_bytes_) {
    if (lines_.size() + text.size() > kept_bytes_) flush();
    lines_ += text;
    return;
  }
  flush();
  commit_run();
  fwrite_unlocked(text.data(), 1, text.size(), stdout);
}

void Report::flush() {
  if (lines_.empty()) return;
  commit_run();
  fwrite_unlocked(lines_.data(), 1, lines_.size(), stdout);
  lines_.clear();
}

void Report::message(std::string_view text, int error) {
  use_locale();
  commit_run();
  flush();
  std::fflush(stdout);
  std::string line = program_ + ": ";
  line += text;
  if (error != 0) {
    line += ": ";
    line += std::strerror(error);
  }
  line += '\n';
  fwrite_unlocked(line.data(), 1, line.size(), stderr);
}

int Report::finish(int status) {
  flush();
  if (!close_stream(stdout)) {
    const int error = errno;
    use_locale();
    std::string line = program_ + ": " + translate("write error");
    if (error != 0) line += std::string(": ") + std::strerror(error);
    line += '\n';
    fwrite_unlocked(line.data(), 1, line.size(), stderr);
    status = 1;
  }
  return close_stream(stderr) ? status : 1;
}

}  // namespace hoist::hash
