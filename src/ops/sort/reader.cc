#include "ops/sort/reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/crash_fallback.h"
#include "ops/sort/messages.h"

namespace hoist::sort {

Result<LineReader> LineReader::open(const std::string& name, char terminator, size_t block) {
  if (name == "-") return LineReader({}, name, terminator, block);
  Result<UniqueFd> fd = open_file(name, O_RDONLY);
  if (!fd) return io_error("open failed", name, fd.error().system_errno);
  return LineReader(std::move(*fd), name, terminator, block);
}

LineReader::LineReader(UniqueFd fd, std::string name, char terminator, size_t block)
    : terminator_(terminator),
      fd_(fd.valid() ? fd.get() : STDIN_FILENO),
      block_(block),
      owned_(std::move(fd)),
      name_(std::move(name)) {
  commit_run_unless_rereadable(fd_);
  ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

LineReader::LineReader(char terminator, size_t block)
    : terminator_(terminator), at_end_(true), block_(block) {}

void LineReader::restart(int fd, std::string name, uint64_t begin, uint64_t end) {
  fd_ = fd;
  name_ = std::move(name);
  limit_ = cursor_;
  at_end_ = ended_early_ = false;
  ranged_ = true;
  position_ = begin;
  end_ = end;
  status_ = {};
}

LineReader::Buffer LineReader::make_buffer(size_t size) {
  constexpr size_t kBehind = 16;  // a terminator, and what may be read behind it
  Buffer buffer{std::make_unique_for_overwrite<char[]>(size + kBehind), size};
  std::memset(buffer.data.get() + size, 0, kBehind);
  return buffer;
}

// Copies the beginning of an unfinished line to the other buffer, so that the line before it
// stays in place, and makes room there for as much again.
char* LineReader::carry_over(size_t unfinished) {
  const size_t wanted = std::max(block_, 2 * unfinished);
  if (other_.size < wanted) other_ = make_buffer(wanted);
  std::memcpy(other_.data.get(), cursor_, unfinished);
  std::swap(current_, other_);
  return current_.data.get() + unfinished;
}

// Reads up to `size` bytes; 0 at the end and after an error. A pipe gives what it has.
size_t LineReader::fill(char* data, size_t size) {
  if (ranged_) size = static_cast<size_t>(std::min<uint64_t>(size, end_ - position_));
  if (size == 0) return 0;
  ssize_t got;
  do {
    got =
        ranged_ ? ::pread(fd_, data, size, static_cast<off_t>(position_)) : ::read(fd_, data, size);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    status_ = io_error("read failed", name_, errno);
    return 0;
  }
  position_ += static_cast<size_t>(got);
  ended_early_ = ranged_ && got == 0;
  return static_cast<size_t>(got);
}

bool LineReader::next_from_file(Line& line) {
  if (at_end_) return false;
  size_t length = static_cast<size_t>(limit_ - cursor_);  // of the line so far, no terminator in it
  char* text = carry_over(length) - length;
  while (true) {
    if (length == current_.size && (!ranged_ || position_ < end_)) {
      // A line longer than the buffer. The other one may hold the line before: this one grows.
      Buffer grown = make_buffer(2 * length);
      std::memcpy(grown.data.get(), text, length);
      current_ = std::move(grown);
      text = current_.data.get();
    }
    const size_t got = fill(text + length, current_.size - length);
    cursor_ = text;
    limit_ = text + length + got;
    if (got == 0) break;
    const void* const found = std::memchr(text + length, terminator_, got);
    length += got;
    if (found != nullptr) {
      const char* const stop = static_cast<const char*>(found);
      line = {text, static_cast<size_t>(stop - text)};
      cursor_ = stop + 1;
      return true;
    }
  }
  at_end_ = true;
  if (length == 0 || !status_) {
    limit_ = cursor_;
    return false;
  }
  text[length] = terminator_;
  line = {text, length};
  cursor_ = limit_;
  return true;
}

}  // namespace hoist::sort
