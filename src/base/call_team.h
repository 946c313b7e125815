// Threads for one library call, none of which is left when it returns: a program may end by the end
// of its last thread, or ask for what only a process of one thread gets (unshare(), setns()).
//
//   CallTeam team(most_call_threads());
//   if (team.pool() != nullptr) team.pool()->parallel_for(…);
//
// When several threads of the program make such calls at the same time, one call has a team: a
// program that does such work on many threads keeps its cores busy by itself. Use inside OwnWork
// (base/own_work.h), whose signal mask the threads inherit.
#pragma once

#include <optional>

#include "base/threads.h"

namespace hoist {

// As many as the calling thread may run on, since a program that pins its threads has its reasons,
// and at most usable_cpus(); 1 where the program gives new threads less than 256 KiB of stack.
int most_call_threads();

class CallTeam {
 public:
  // No pool for one thread, or while another call has a team.
  explicit CallTeam(int threads);
  ~CallTeam();
  CallTeam(const CallTeam&) = delete;
  CallTeam& operator=(const CallTeam&) = delete;

  ThreadPool* pool() { return pool_ ? &*pool_ : nullptr; }

 private:
  std::optional<ThreadPool> pool_;
};

}  // namespace hoist
