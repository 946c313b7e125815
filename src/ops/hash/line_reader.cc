#include "ops/hash/line_reader.h"

#include <unistd.h>

#include <cerrno>

#include "base/crash_fallback.h"

namespace hoist::hash {
namespace {

constexpr size_t kReadBytes = 64 << 10;

}  // namespace

LineReader::LineReader(int fd) : fd_(fd) { commit_run_unless_rereadable(fd); }

bool LineReader::fill() {
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const size_t old_size = buffer_.size();
  buffer_.resize(old_size + kReadBytes);
  ssize_t count;
  do {
    count = read(fd_, buffer_.data() + old_size, kReadBytes);
  } while (count < 0 && errno == EINTR);
  if (count < 0) error_ = errno;
  buffer_.resize(old_size + static_cast<size_t>(count > 0 ? count : 0));
  return count > 0;
}

bool LineReader::next(std::string_view& line) {
  for (;;) {
    const size_t newline = buffer_.find('\n', scanned_);
    if (newline != std::string::npos) {
      line = std::string_view(buffer_).substr(begin_, newline - begin_);
      begin_ = scanned_ = newline + 1;
      return true;
    }
    scanned_ = buffer_.size();
    if (ended_) break;
    ended_ = !fill();
  }
  if (begin_ == buffer_.size()) return false;
  line = std::string_view(buffer_).substr(begin_);
  begin_ = buffer_.size();
  return true;
}

}  // namespace hoist::hash
