#include "placement/spawned_group.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>
#include <cerrno>

namespace hoist::placement {
namespace {

constexpr pid_t kNone = 0;
constexpr pid_t kStarting = -1;
std::atomic<pid_t> group{kNone};
static_assert(std::atomic<pid_t>::is_always_lock_free);

}  // namespace

int spawn_in_group(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                   char* const* words, char* const* environment) {
  // No handler runs on this thread between the start and the note of it; one on another waits.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setsigmask(&attributes, &before);
  group = kStarting;
  const int error = ::posix_spawn(child, file, actions, &attributes, words, environment);
  group = error == 0 ? *child : kNone;
  ::posix_spawnattr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

void release_spawned_group() { group = kNone; }

void end_spawned_group() {
  const int error = errno;
  constexpr struct timespec kLook = {0, 1'000'000};
  pid_t leader = group;
  for (; leader == kStarting; leader = group) ::nanosleep(&kLook, nullptr);
  if (leader != kNone && ::kill(-leader, SIGKILL) == 0) {
    // The status is left to run_program().
    siginfo_t ended;
    while (::waitid(P_PID, leader, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  }
  errno = error;
}

}  // namespace hoist::placement
