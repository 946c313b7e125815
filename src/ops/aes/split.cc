#include "ops/aes/split.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/file.h"
#include "base/threads.h"
#include "ops/aes/accounting.h"

namespace hoist::aes {
namespace {

constexpr size_t kLargestChunk = 256 << 10;  // stays in a core's own cache
constexpr size_t kChunksPerLane = 4;         // evens out what else the cores do

std::atomic<int> calls_under_way = 0;

// This thread's, which is counted above once however often it was left: a signal handler of the
// program's may leave a call by siglongjmp(), and then the thread's next one takes its place.
struct OwnCall {
  bool counted = false;
  int cancel_state = 0;  // the program's
};
thread_local OwnCall own_call;

// The other threads, and the calls that they had under way, are not there in the child.
void forget_calls_after_fork() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { calls_under_way.store(own_call.counted ? 1 : 0); });
  (void)registered;
}

// Whether fewer than two CPUs are left to the calling program: the number of runnable threads is
// in proc(5)'s loadavg, before the slash. Looked at ten times a second at most.
bool cores_are_busy() try {
  static std::atomic<int64_t> next_look = 0;
  static std::atomic<bool> busy = false;
  struct timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const int64_t milliseconds = now.tv_sec * 1000 + now.tv_nsec / 1000000;
  if (milliseconds < next_look) return busy;
  next_look = milliseconds + 100;
  char text[128] = {};
  const Result<UniqueFd> file = open_file("/proc/loadavg", O_RDONLY);
  if (!file || !read_full(file->get(), text, sizeof text - 1)) return false;
  int runnable = 0;
  if (std::sscanf(text, "%*f %*f %*f %d/", &runnable) != 1) return false;
  busy = ::sysconf(_SC_NPROCESSORS_ONLN) - (runnable - 1) < 2;
  return busy;
} catch (...) {  // no memory
  return true;
}

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

LargeCall::LargeCall(bool on_busy_cores) {
  forget_calls_after_fork();
  int cancel_state;  // a thread that is cancelled must not leave others at work on its call
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  if (!own_call.counted) {
    own_call = {true, cancel_state};
    calls_under_way.fetch_add(1, std::memory_order_relaxed);
  }
  const bool alone = calls_under_way.load(std::memory_order_relaxed) == 1;
  if (!is_enabled()) {
    obstacle_ = "switched off";
  } else if (!alone || in_lanes()) {
    obstacle_ = "other threads are at it";
  } else if (usable_lanes() == 1) {
    obstacle_ = "one CPU";
  } else if (!on_busy_cores && cores_are_busy()) {
    obstacle_ = "other programs keep the CPUs busy";
  } else {
    obstacle_ = nullptr;
  }
  lanes_ = obstacle_ == nullptr ? usable_lanes() : is_enabled() ? 1 : 0;
}

LargeCall::~LargeCall() {
  ::pthread_setcancelstate(own_call.cancel_state, nullptr);
  // A call that was left while other threads worked on it holds them up for good.
  if (!own_call.counted || in_lanes()) return;
  own_call.counted = false;
  calls_under_way.fetch_sub(1, std::memory_order_relaxed);
}

size_t usable_lanes() {
  static const size_t lanes = std::min(static_cast<size_t>(usable_cpus()), kMaxLanes);
  return lanes;
}

Split plan_split(size_t bytes, size_t granularity, size_t lane_bytes) {
  Split split;
  split.bytes = bytes;
  split.lanes = std::max<size_t>(bytes / lane_bytes, 1);
  split.lanes = std::min(split.lanes, usable_lanes());
  split.chunk = std::min(bytes / (kChunksPerLane * split.lanes), kLargestChunk);
  split.chunk = round_up(std::max({split.chunk, bytes / kMaxChunks + 1, granularity}), granularity);
  split.chunks = std::max<size_t>((bytes + split.chunk - 1) / split.chunk, 1);
  split.lanes = std::min(split.lanes, split.chunks);
  return split;
}

void duplicate_for_lanes(const Cipher& original, Split& split, LaneCiphers& lanes) {
  for (size_t i = 0; i < split.lanes; ++i) {
    lanes[i] = original.duplicate();
    if (!lanes[i]) {
      split.lanes = i;
      return;
    }
  }
}

}  // namespace hoist::aes
