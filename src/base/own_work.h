// Work of ours on a thread of a program that must not notice it.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cerrno>

namespace hoist {

// Keeps errno, keeps the thread from being cancelled, and holds signals back: a handler that leaves
// by siglongjmp() would abandon locks, and threads that work on this stack. Faults are taken at
// once, by the program's handlers if it has any, and a profiler's clock goes on. Threads that are
// started meanwhile inherit the mask.
class OwnWork {
 public:
  OwnWork() : errno_(errno) {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    sigset_t held;
    ::sigfillset(&held);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
      ::sigdelset(&held, number);
    }
    ::pthread_sigmask(SIG_BLOCK, &held, &signals_);
  }
  ~OwnWork() {
    ::pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
    ::pthread_setcancelstate(cancel_state_, nullptr);
    errno = errno_;
  }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  int errno_;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
  sigset_t signals_;
};

// body() as such work. Null, 0 or false where it fails by an exception: none reaches the program.
template <typename Body>
auto unseen(Body&& body) -> decltype(body()) {
  const OwnWork guard;
  try {
    return body();
  } catch (...) {
    return {};
  }
}

}  // namespace hoist
