// Sleeps of microseconds that take as long: by default the kernel adds 50 to save itself work.
#pragma once

#include <sys/prctl.h>

namespace hoist::device {

// For the calling thread, as long as it lives.
class FineTimer {
 public:
  FineTimer() : before_(::prctl(PR_GET_TIMERSLACK)) { ::prctl(PR_SET_TIMERSLACK, 1UL); }
  ~FineTimer() {
    if (before_ > 0) ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_));
  }
  FineTimer(const FineTimer&) = delete;
  FineTimer& operator=(const FineTimer&) = delete;

 private:
  const int before_;  // nanoseconds
};

}  // namespace hoist::device
