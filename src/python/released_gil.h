// The interpreter's lock, free for as long as an engine works.
//
//   const ReleasedGil released;
//   return index->search(…);
//
// As nb::gil_scoped_release, and safe where a daemon thread works when the interpreter ends:
// CPython ends a thread that then comes back for the lock by unwinding it, which no destructor
// survives (std::terminate()). Here it waits instead until the process is gone. The interpreter's
// end asks engines that work to stop and waits for them, so that they do not meet the destructors
// of what they use. It does not wait for functions of the user's that an engine calls (UsersTurn).
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <stop_token>

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

// A thread of ours that works without the lock, as one that has released it.
class Working {
 public:
  Working();
  ~Working();
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  std::atomic<int>& inside_;
};

// The lock, for a function of the user's, which may take forever. For a thread that is Working, or
// works for one that waits in a ReleasedGil.
class UsersTurn {
 public:
  UsersTurn();
  ~UsersTurn();
  UsersTurn(const UsersTurn&) = delete;
  UsersTurn& operator=(const UsersTurn&) = delete;

 private:
  std::atomic<int>& inside_;
  PyGILState_STATE state_;
};

// Whether the interpreter's end has begun, and what then asks work to stop.
bool is_ending();
std::stop_token stop_at_the_end();

// Once for each module.
void watch_interpreters_end();

}  // namespace hoist::python
