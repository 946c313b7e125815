#include "python/released_gil.h"

#include <unistd.h>

#include "base/per_process.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

struct Count {
  std::atomic<int> threads = 0;
  std::stop_source end;
};

// Threads that work without the lock, or are about to take it again. A child begins with none.
constinit PerProcess<Count> inside;

// The thread that ends the interpreter; 0: it has not ended.
std::atomic<unsigned long> ending_thread = 0;

[[noreturn]] void wait_for_the_end() {
  while (true) ::pause();
}

bool others_are_ending() {
  const unsigned long ending = ending_thread;
  return ending != 0 && ending != PyThread_get_thread_ident();
}

void end() {
  ending_thread = PyThread_get_thread_ident();
  PyThreadState* const state = PyEval_SaveThread();
  inside.get().end.request_stop();
  while (inside.get().threads != 0) ::usleep(100);
  PyEval_RestoreThread(state);
}

}  // namespace

ReleasedGil::ReleasedGil() : inside_(inside.get().threads) {
  ++inside_;
  state_ = PyEval_SaveThread();
}

ReleasedGil::~ReleasedGil() {
  if (others_are_ending()) {
    --inside_;
    wait_for_the_end();
  }
  PyEval_RestoreThread(state_);
  --inside_;
}

Working::Working() : inside_(inside.get().threads) { ++inside_; }

Working::~Working() { --inside_; }

// Counted until it has the lock, and again before it gives it away: the end has the lock when it
// begins, so that either it waits for this thread or this thread knows of it.
UsersTurn::UsersTurn() : inside_(inside.get().threads) {
  if (others_are_ending()) {
    --inside_;
    wait_for_the_end();
  }
  state_ = PyGILState_Ensure();
  --inside_;
}

UsersTurn::~UsersTurn() {
  ++inside_;
  if (others_are_ending()) {
    --inside_;
    PyEval_SaveThread();
    wait_for_the_end();
  }
  PyGILState_Release(state_);
}

bool is_ending() { return ending_thread != 0; }

std::stop_token stop_at_the_end() { return inside.get().end.get_token(); }

void watch_interpreters_end() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(end));
}

}  // namespace hoist::python
