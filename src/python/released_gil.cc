#include "python/released_gil.h"

#include <unistd.h>

#include "base/per_process.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

struct Count {
  std::atomic<int> threads = 0;
};

// Threads that work without the lock, or are about to take it again. A child begins with none.
constinit PerProcess<Count> inside;

// The thread that ends the interpreter; 0: it has not ended.
std::atomic<unsigned long> ending_thread = 0;

void end() {
  ending_thread = PyThread_get_thread_ident();
  PyThreadState* const state = PyEval_SaveThread();
  while (inside.get().threads != 0) ::usleep(100);
  PyEval_RestoreThread(state);
}

}  // namespace

ReleasedGil::ReleasedGil() : inside_(inside.get().threads) {
  ++inside_;
  state_ = PyEval_SaveThread();
}

ReleasedGil::~ReleasedGil() {
  const unsigned long ending = ending_thread;
  if (ending != 0 && ending != PyThread_get_thread_ident()) {
    --inside_;
    while (true) ::pause();
  }
  PyEval_RestoreThread(state_);
  --inside_;
}

void watch_interpreters_end() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(end));
}

}  // namespace hoist::python
