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
constexpr size_t kPage = 4096;

std::atomic<int> calls_under_way = 0;

// The other threads, and the calls that they had under way, are not there in the child.
void forget_calls_after_fork() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { calls_under_way.store(0); });
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
  const bool alone = calls_under_way.fetch_add(1, std::memory_order_relaxed) == 0;
  if (!is_enabled()) {
    obstacle_ = "switched off";
  } else if (!alone) {
    obstacle_ = "other threads are at it";
  } else if (usable_lanes() == 1) {
    obstacle_ = "one CPU";
  } else if (!on_busy_cores && cores_are_busy()) {
    obstacle_ = "other programs keep the CPUs busy";
  } else {
    obstacle_ = nullptr;
  }
}

LargeCall::~LargeCall() { calls_under_way.fetch_sub(1, std::memory_order_relaxed); }

size_t usable_lanes() {
  return std::min(static_cast<size_t>(ThreadPool::process().size()), kMaxLanes);
}

Split plan_split(size_t bytes, size_t granularity, size_t threshold) {
  Split split;
  split.bytes = bytes;
  split.lanes = std::max<size_t>(bytes / std::max<size_t>(threshold / 2, 1), 2);
  split.lanes = std::min(split.lanes, usable_lanes());
  split.chunk = std::min(bytes / (kChunksPerLane * split.lanes), kLargestChunk);
  split.chunk = round_up(std::max({split.chunk, bytes / kMaxChunks + 1, granularity}), granularity);
  split.chunks = std::max<size_t>((bytes + split.chunk - 1) / split.chunk, 1);
  split.lanes = std::min(split.lanes, split.chunks);
  return split;
}

void run_split(const Split& split, void (*call)(void* context, size_t lane, size_t chunk),
               void* context) {
  struct Job {
    const Split& split;
    void (*call)(void*, size_t, size_t);
    void* context;
    std::atomic<size_t> next = 0;

    void run(size_t lane) {
      for (size_t i = next++; i < split.chunks; i = next++) call(context, lane, i);
    }
  };
  Job job{split, call, context};
  try {
    // The closure is one pointer, so that std::function needs no memory.
    ThreadPool::process().parallel_for(split.lanes, [&job](size_t lane) { job.run(lane); });
  } catch (...) {
    // The pool could not be started: the calling thread does what there is to do.
  }
  job.run(0);
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

bool overlap(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(a);
  const uintptr_t second = reinterpret_cast<uintptr_t>(b);
  return first < second + b_size && second < first + a_size;
}

void touch_pages(const uint8_t* in, uint8_t* out, size_t size) {
  const auto touch = [](const uint8_t* read, uint8_t* written) {
    (void)*static_cast<const volatile uint8_t*>(read);
    volatile uint8_t* const byte = written;
    *byte = *byte;
  };
  for (size_t at = 0; at < size; at += kPage) touch(in + at, out + at);
  if (size > 0) touch(in + size - 1, out + size - 1);
}

}  // namespace hoist::aes
