#include "ops/gunzip/input_buffer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace hoist::gunzip {

ssize_t FdSource::read(void* data, size_t size) {
  for (;;) {
    const ssize_t got = ::read(fd_, data, size);
    if (got >= 0) return got;
    if (errno == EAGAIN && make_blocking(fd_)) continue;
    if (errno != EINTR) return -1;
  }
}

bool make_blocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0 && ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

InputBuffer::InputBuffer() : block_(new uint8_t[kBlock]) {}

void InputBuffer::attach(ByteSource& source) {
  source_ = &source;
  next = end = block_.get();
  bytes_read_ = 0;
  error_ = 0;
  at_end_ = false;
}

bool InputBuffer::refill() {
  if (at_end_) return false;
  size_t filled = 0;
  while (filled < kBlock) {
    const ssize_t got = source_->read(block_.get() + filled, kBlock - filled);
    if (got < 0) {
      error_ = errno;
      at_end_ = true;
      next = end = block_.get();
      return false;
    }
    if (got == 0) {
      at_end_ = true;
      break;
    }
    filled += static_cast<size_t>(got);
  }
  bytes_read_ += filled;
  next = block_.get();
  end = next + filled;
  return filled != 0;
}

}  // namespace hoist::gunzip
