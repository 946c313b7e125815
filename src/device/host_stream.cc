#include "device/host_stream.h"

#include <fmt/core.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"

namespace hoist::device {
namespace {

Error io_error(const char* call) {
  const int code = errno;
  return fail(ErrorCode::io, fmt::format("{} (transfer): {}", call, std::strerror(code)), code);
}

// Waits for a descriptor, or for the stop.
class Waiter {
 public:
  Waiter(int fd, std::stop_token stop)
      : fd_(fd),
        wake_(stop.stop_possible() ? ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1),
        callback_(std::move(stop), Wake{wake_.get()}) {}

  Status wait_for(short events) {
    if (fd_ < 0) {  // which poll() would skip
      errno = EBADF;
      return io_error("poll");
    }
    pollfd waited[2] = {{fd_, events, 0}, {wake_.get(), POLLIN, 0}};
    while (::poll(waited, 2, -1) < 0) {
      if (errno != EINTR) return io_error("poll");
    }
    if (waited[1].revents != 0) return fail(ErrorCode::cancelled, "stopped (transfer)");
    return {};
  }

 private:
  struct Wake {
    int fd;
    void operator()() const { (void)::eventfd_write(fd, 1); }
  };
  const int fd_;
  const UniqueFd wake_;
  const std::stop_callback<Wake> callback_;
};

bool would_block() { return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK; }

class StreamReader : public HostReader {
 public:
  StreamReader(HostStream stream, uint64_t size, std::stop_token stop)
      : fd_(stream.fd), size_(size), waiter_(stream.fd, std::move(stop)) {}

  bool is_random_access() const override { return false; }

  Status read(uint64_t at, std::span<std::byte> into) override {
    for (size_t done = 0; done < into.size();) {
      if (Status ready = waiter_.wait_for(POLLIN); !ready) return ready;
      const ssize_t got = ::read(fd_, into.data() + done, into.size() - done);
      if (got < 0 && !would_block()) return io_error("read");
      if (got == 0) {
        return fail(ErrorCode::io, fmt::format("the peer closed after {} of {} bytes (transfer)",
                                               at + done, size_));
      }
      if (got > 0) done += static_cast<size_t>(got);
    }
    return {};
  }

 private:
  const int fd_;
  const uint64_t size_;
  Waiter waiter_;
};

class StreamWriter : public HostWriter {
 public:
  StreamWriter(HostStream stream, std::stop_token stop)
      : fd_(stream.fd), waiter_(stream.fd, std::move(stop)) {
    struct stat status {};
    is_socket_ = ::fstat(fd_, &status) == 0 && S_ISSOCK(status.st_mode);
  }

  bool is_random_access() const override { return false; }

  Status write(uint64_t at, std::span<const std::byte> bytes) override {
    for (size_t done = 0; done < bytes.size();) {
      if (Status ready = waiter_.wait_for(POLLOUT); !ready) return ready;
      const ssize_t put = write_some(bytes.subspan(done));
      if (put < 0 && !would_block()) return io_error("write");
      if (put > 0) done += static_cast<size_t>(put);
    }
    return {};
  }

 private:
  // Without waiting inside the call, where a stop would not be noticed: a pipe that is ready takes
  // PIPE_BUF bytes at once (pipe(7)).
  ssize_t write_some(std::span<const std::byte> bytes) const {
    if (is_socket_) return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF));
  }

  const int fd_;
  bool is_socket_ = false;
  Waiter waiter_;
};

}  // namespace

Result<std::shared_ptr<HostReader>> open_stream_source(HostStream stream, uint64_t size,
                                                       std::stop_token stop) {
  return std::make_shared<StreamReader>(stream, size, std::move(stop));
}

Result<std::shared_ptr<HostWriter>> open_stream_sink(HostStream stream, uint64_t size,
                                                     std::stop_token stop) {
  return std::make_shared<StreamWriter>(stream, std::move(stop));
}

}  // namespace hoist::device
