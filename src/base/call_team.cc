#include "base/call_team.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace hoist {
namespace {

constexpr size_t kEnoughStack = size_t{256} << 10;

// The process whose call has a team. Another's pid is from before a fork().
std::atomic<pid_t> team_owner = 0;

}  // namespace

int most_call_threads() {
  pthread_attr_t usual;
  size_t stack = 0;
  if (::pthread_getattr_default_np(&usual) != 0) return 1;
  ::pthread_attr_getstacksize(&usual, &stack);
  ::pthread_attr_destroy(&usual);
  if (stack < kEnoughStack) return 1;
  static const int cpus = usable_cpus();
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::min(cpus, CPU_COUNT(&set)) : cpus;
}

CallTeam::CallTeam(int threads) {
  pid_t other = team_owner;
  const pid_t own = ::getpid();
  if (threads <= 1 || other == own || !team_owner.compare_exchange_strong(other, own)) return;
  try {
    pool_.emplace(threads);
  } catch (...) {
    team_owner = 0;
    throw;
  }
}

CallTeam::~CallTeam() {
  if (!pool_) return;
  pool_.reset();
  team_owner = 0;
}

}  // namespace hoist
