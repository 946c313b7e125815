#include "base/quiet_thread.h"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <utility>

#include "base/crash_fallback.h"
#include "base/threads.h"

namespace hoist {

Result<std::thread> start_quiet_thread(std::function<void()> body) {
  const sigset_t blocked = signals_for_threads_to_block();
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
  std::thread thread;
  try {
    thread = std::thread([body = std::move(body)] {
      run_on_process_cpus();
      body();
    });
  } catch (const std::exception&) {
    // RLIMIT_NPROC, a full cgroup, no memory.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread.joinable())
    return fail(ErrorCode::exhausted,
                "no more threads (this process): raise `ulimit -u`, or the container's limit");
  return thread;
}

}  // namespace hoist
