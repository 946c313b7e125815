// Threads that belong to the process: how many it may use, and a pool that runs loops over them.
//
// The pool starts threads as there is work for them, is rebuilt after fork (a child starts
// with none and makes its own when it needs them), and must not be used in a signal handler or in
// a vfork child. Threads block all signals, so the host program's handlers stay on its own threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace hoist {

// CPUs this process may keep busy: the smallest of the affinity mask, the cgroup (v1 or v2) CPU
// quota rounded up, and HOIST_THREADS where that is set. At least 1.
int usable_cpus();

// CPUs that threads of this process may keep busy, whatever HOIST_THREADS says: the union of their
// affinity masks, for a runtime may have bound each of its threads to one CPU, and the quota.
int process_cpus();

// Lets the calling thread run on all of them: who starts a thread may be bound to one CPU, which is
// not for the threads that are to help it. Without effect where that cannot be found out.
void run_on_process_cpus();

class ThreadPool {
 public:
  // The process-wide pool with usable_cpus() threads, the caller counted in.
  static ThreadPool& process();

  // `threads` counts the caller: ThreadPool(1) runs everything on the calling thread.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Calls body(i) for every i in [0, count), in any order, on up to size() threads, the caller
  // among them; returns when all calls have returned. Indices are handed out one by one, so uneven
  // work balances itself. Loops of several callers run at the same time and share the pool's
  // threads. Nested calls from inside a body run on the calling thread. The first
  // exception that a body throws is rethrown here after the others have stopped.
  void parallel_for(size_t count, const std::function<void(size_t)>& body);

 private:
  struct State;
  State& own_state();

  std::atomic<State*> state_;
};

}  // namespace hoist
