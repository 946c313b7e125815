#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/call_team.h"
#include "base/caller_memory.h"
#include "base/load.h"
#include "base/own_work.h"
#include "ops/memcpy/copy.h"
#include "ops/memcpy/memcpy.h"
#include "takeover/library_calls.h"

namespace hoist::memcpy {
namespace {

constexpr int kMostThreads = 8;  // whose start is paid for by the smallest of such copies

constexpr const char* kNoThreads = "no threads free";

LibraryCalls& calls() {
  static auto* const calls = new LibraryCalls("memcpy");  // static destructors may copy
  return *calls;
}

// Made while the engine is loaded, which a fork() waits for: a child that is made during the first
// call would wait for good for that thread's.
[[maybe_unused]] const bool made_early = unseen([] {
  calls();
  return true;
});

// As many as have a core to themselves: one that waits for its core holds all up. 0 where the call
// is the original's.
int threads_for(const void* to, const void* from, size_t size) {
  const char* reason = nullptr;
  const int cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const int threads = std::min(free_cpus(most_call_threads(), cpus), kMostThreads);
  if (overlap(to, size, from, size)) {
    reason = "source and target overlap";
  } else if (calls().is_switched_off()) {
    reason = "switched off by --verify";
  } else if (threads < 2) {
    reason = kNoThreads;
  }
  if (reason == nullptr) return threads;
  calls().passed(reason);
  return 0;
}

bool copy_counted(std::byte* to, const std::byte* from, size_t size, int threads) {
  const CallClock clock;
  CallTeam team(threads);
  if (team.pool() == nullptr) return calls().passed(kNoThreads);
  copy(to, from, size, *team.pool());
  const uint64_t nanoseconds = clock.nanoseconds();
  if (calls().is_drawn()) {
    const bool same = std::memcmp(to, from, size) == 0;
    calls().verified(same, fmt::format("{} bytes", size));
    if (!same) return false;
  }
  calls().done("cpu-all", size, nanoseconds);
  return true;
}

}  // namespace
}  // namespace hoist::memcpy

bool hoist_memcpy(void* to, const void* from, size_t size) {
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  const int threads =
      hoist::unseen([=] { return hoist::memcpy::threads_for(target, source, size); });
  if (threads == 0) return false;
  // Nothing here has anything to destroy: a handler may leave by siglongjmp().
  if (hoist::CallerMemory().watched()) hoist::memcpy::touch(target, source, size);
  return hoist::unseen([=] { return hoist::memcpy::copy_counted(target, source, size, threads); });
}
