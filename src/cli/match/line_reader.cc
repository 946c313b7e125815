#include "cli/match/line_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/interrupts.h"

namespace hoist::cli {
namespace {

constexpr size_t kReadBytes = size_t{1} << 20;

}  // namespace

Result<LineReader> LineReader::open(const std::string& path) {
  if (path == "-") return LineReader(UniqueFd(::dup(STDIN_FILENO)), "standard input", 0);
  auto fd = open_file(path, O_RDONLY);
  if (!fd) return fd.error();
  struct stat status {};
  const bool regular = ::fstat(fd->get(), &status) == 0 && S_ISREG(status.st_mode);
  return LineReader(std::move(*fd), path, regular ? static_cast<uint64_t>(status.st_size) : 0);
}

std::string LineReader::place() const { return fmt::format("{}:{}", path_, number_); }

// Whether there is more. What is left of the buffer moves to its begin.
Result<bool> LineReader::fill() {
  if (ended_) return false;
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (buffer_.size() > kMaxLine) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a line of more than {} MiB ({}:{}): split it", kMaxLine >> 20, path_,
                            number_ + 1));
  }
  const size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  ssize_t got = 0;
  do {
    got = ::read(fd_.get(), buffer_.data() + before, kReadBytes);
  } while (got < 0 && errno == EINTR && !is_interrupted());
  buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) {
    return fail(ErrorCode::io, fmt::format("cannot read ({}: {})", path_, std::strerror(errno)),
                errno);
  }
  bytes_ += static_cast<uint64_t>(got);
  ended_ = got == 0;
  return !ended_;
}

Result<std::optional<std::string_view>> LineReader::next() {
  size_t searched = begin_;
  for (;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos || (ended_ && begin_ < buffer_.size())) {
      const std::string_view rest = std::string_view(buffer_).substr(begin_);
      const std::string_view line = end == std::string::npos ? rest : rest.substr(0, end - begin_);
      begin_ = end == std::string::npos ? buffer_.size() : end + 1;
      ++number_;
      return line;
    }
    if (ended_) return std::nullopt;
    searched = buffer_.size() - begin_;
    if (const auto more = fill(); !more) return more.error();
  }
}

}  // namespace hoist::cli
