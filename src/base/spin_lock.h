// A lock in memory that processes share, for a few instructions at a time.
#pragma once

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace hoist {

// The lock word holds its owner's pid: an owner that was killed must not stop the others, one that
// only waits for a CPU must not be robbed. Where the word stays taken (the owner is stopped, or its
// pid has a new life) the lock is given up after a while: held() is false.
class SpinLock {
 public:
  explicit SpinLock(uint32_t& lock) : lock_(lock) {
    const auto own = static_cast<uint32_t>(::getpid());
    for (int tries = 0; tries < kSpins + kYields && !held_; ++tries) {
      uint32_t owner = 0;
      held_ = exchange(owner, own);
      if (held_) return;
      if (tries < kSpins) {
        __builtin_ia32_pause();
      } else if (is_dead(owner)) {
        held_ = exchange(owner, own);
      } else {
        ::sched_yield();
      }
    }
  }
  ~SpinLock() {
    if (held_) __atomic_store_n(&lock_, 0u, __ATOMIC_RELEASE);
  }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;
  bool held() const { return held_; }

 private:
  static constexpr int kSpins = 1000;
  static constexpr int kYields = 20000;

  bool exchange(uint32_t& expected, uint32_t own) {
    return __atomic_compare_exchange_n(&lock_, &expected, own, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
  }
  static bool is_dead(uint32_t owner) {
    return ::kill(static_cast<pid_t>(owner & 0x7fffffffu), 0) != 0 && errno == ESRCH;
  }

  uint32_t& lock_;
  bool held_ = false;
};

}  // namespace hoist
