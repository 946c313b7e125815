#include "cli/records/pausing_input.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/interrupts.h"

namespace hoist::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Signals that arrive meanwhile are handled inside ppoll() and nowhere else, so that none comes
// between a look at is_interrupted() and the wait.
class HeldInterrupts {
 public:
  HeldInterrupts() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&held, number);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldInterrupts() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;

  const sigset_t* before() const { return &before_; }

 private:
  sigset_t before_;
};

Error failed(const char* call, const std::string& name) {
  const int code = errno;
  return fail(ErrorCode::io, std::string(call) + " " + name + ": " + std::strerror(code), code);
}

}  // namespace

Result<bool> PausingInput::wait(bool has_deadline, Clock::time_point deadline) const {
  const HeldInterrupts held;
  for (;;) {
    if (is_interrupted()) return false;
    struct timespec left = {};
    if (has_deadline) {
      const auto rest = std::chrono::nanoseconds(deadline - Clock::now()).count();
      if (rest <= 0) return false;
      left = {.tv_sec = rest / 1'000'000'000, .tv_nsec = rest % 1'000'000'000};
    }
    struct pollfd ready = {.fd = fd_, .events = POLLIN, .revents = 0};
    const int count = ::ppoll(&ready, 1, has_deadline ? &left : nullptr, held.before());
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return failed("wait for", name_);
  }
}

Result<size_t> PausingInput::read(std::span<char> into) {
  size_t filled = 0;
  Clock::time_point deadline;
  while (filled < into.size()) {
    const Result<bool> ready = wait(filled > 0 && pause_.count() > 0, deadline);
    if (!ready) return ready.error();
    if (!*ready) break;
    const ssize_t count = ::read(fd_, into.data() + filled, into.size() - filled);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return failed("read", name_);
    if (count == 0) return filled;
    if (filled == 0) deadline = Clock::now() + pause_;
    filled += static_cast<size_t>(count);
    bytes_ += static_cast<uint64_t>(count);
  }
  if (filled == 0 && is_interrupted()) return fail(ErrorCode::cancelled, "stopped");
  return filled;
}

}  // namespace hoist::cli
