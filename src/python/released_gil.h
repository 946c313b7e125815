// The interpreter's lock, free for as long as an engine works.
//
//   const ReleasedGil released;
//   return index->search(…);
//
// As nb::gil_scoped_release, and safe where a daemon thread works when the interpreter ends:
// CPython ends a thread that then comes back for the lock by unwinding it, which no destructor
// survives (std::terminate()). Here it waits instead until the process is gone. The interpreter's
// end waits for engines that work, so that they do not meet the destructors of what they use.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

namespace hoist::python {

class ReleasedGil {
 public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  std::atomic<int>& inside_;
  PyThreadState* state_;
};

// Once for each module.
void watch_interpreters_end();

}  // namespace hoist::python
