#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "base/counters.h"
#include "base/log.h"
#include "base/options.h"
#include "base/switched_off.h"
#include "base/threads.h"
#include "ops/qsort/call.h"
#include "ops/qsort/judge.h"
#include "ops/qsort/own_work.h"
#include "ops/qsort/qsort.h"
#include "ops/qsort/sorter.h"
#include "ops/qsort/system.h"
#include "ops/qsort/workspace.h"

namespace hoist::qsort {
namespace {

constexpr const char* kOperation = "qsort";

using Clock = std::chrono::steady_clock;

// What holds for the whole process.
struct Process {
  std::unique_ptr<Counters> counters = std::make_unique<Counters>();
  double verify_rate = 0;
  int cpus = usable_cpus();
  std::atomic<bool> switched_off = false;

  Process() {
    // A program under `hoist run` shares its launcher's counters; it gets none of its own, and no
    // descriptor stays open in it.
    const char* const path = std::getenv(HOIST_COUNTERS_ENV);
    if (path != nullptr) {
      if (Result<std::unique_ptr<Counters>> shared = Counters::open(path)) {
        counters = std::move(*shared);
      }
    }
    const std::string_view rate = option_text(OptionId::verify);
    std::from_chars(rate.data(), rate.data() + rate.size(), verify_rate);
    switched_off = hoist::switched_off(kOperation).has_value();
  }

  static Process& get() {
    static Process* const process = new Process;  // calls may come from static destructors
    return *process;
  }
};

bool pass(const char* reason) {
  return unseen([&] {
    Process::get().counters->add_passed(kOperation, reason);
    return false;
  });
}

bool drawn(double rate) {
  if (rate >= 1 || rate <= 0) return rate >= 1;
  return unseen([&] {
    std::random_device random;
    return std::uniform_real_distribution<double>(0, 1)(random) < rate;
  });
}

uint64_t memory_needed(const Call& call) {
  return uint64_t{call.count} * call.size + uint64_t{call.count} * 2 * sizeof(uint64_t);
}

// As many as the calling thread may run on: a program that pins its threads has its reasons.
int threads_for(const Call& call) {
  constexpr size_t kWorthThreads = size_t{1} << 16;
  constexpr size_t kEnoughStack = size_t{256} << 10;
  if (call.count < kWorthThreads) return 1;
  pthread_attr_t usual;
  size_t stack = 0;
  if (::pthread_getattr_default_np(&usual) != 0) return 1;
  ::pthread_attr_getstacksize(&usual, &stack);
  ::pthread_attr_destroy(&usual);
  if (stack < kEnoughStack) return 1;
  const int cpus = Process::get().cpus;
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::min(cpus, CPU_COUNT(&set)) : cpus;
}

// Threads for one call, none of which is left when it returns: a program may end by the end of its
// last thread, or ask for what only a process of one thread gets. Of calls at the same time, in
// several threads of the program, one has them.
class Team {
 public:
  explicit Team(int threads) {
    pid_t other = user_;
    const pid_t own = ::getpid();  // another's is from before a fork()
    if (threads <= 1 || other == own || !user_.compare_exchange_strong(other, own)) return;
    pool_.emplace(threads);
  }
  ~Team() {
    if (!pool_) return;
    pool_.reset();
    user_ = 0;
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  ThreadPool* pool() { return pool_ ? &*pool_ : nullptr; }

 private:
  static inline std::atomic<pid_t> user_ = 0;
  std::optional<ThreadPool> pool_;
};

struct Attempt {
  Sorted sorted = {.failure = "not enough memory"};
  const char* implementation = "cpu-1";
};

Attempt try_sort(const Call& call, const Order& order, const Mappings& mappings,
                 Workspace& workspace) {
  return unseen([&] {
    Attempt attempt;
    if (!has_memory(memory_needed(call))) return attempt;
    Team team(threads_for(call));
    if (team.pool() != nullptr) attempt.implementation = "cpu-all";
    attempt.sorted = sort_by(call, order, mappings, workspace, team.pool());
    return attempt;
  });
}

void restore(const Call& call, const std::byte* input) {
  std::memcpy(call.base, input, call.count * call.size);
}

// Sorts the input again, by the original, and compares. The original's result stays.
void verify(const Call& call, const Sorted& sorted, Workspace& workspace, hoist_qsort_r* original) {
  const size_t bytes = call.count * call.size;
  std::byte* const ours =
      unseen([&] { return workspace.buffer(1, bytes); });  // entries have served
  if (ours == nullptr) {
    pass("verify: left out (no room)");
    return;
  }
  std::memcpy(ours, call.base, bytes);
  restore(call, sorted.input);
  original(call.base, call.count, call.size, call.compare, call.context);
  if (std::memcmp(ours, call.base, bytes) == 0) {
    pass("verify: same");
    return;
  }
  pass("verify: different");
  unseen([&] {
    Process::get().switched_off = true;
    const std::string what =
        fmt::format("{} ({} elements of {} bytes)", program_invocation_name, call.count, call.size);
    log(LogLevel::error, "{}: result differs from the original's: {}", kOperation, what);
    switch_off(kOperation, "differed from the original: " + what);
    return true;
  });
}

// No frame here, or below while the comparator runs, has anything to destroy. The library brings
// its own C++ runtime, and an exception or a cancellation that comes from another one could only
// abort at a destructor of ours.
bool sort(const Call& call, hoist_qsort_r* original, Process& process, Workspace& workspace) {
  Inference* const inference = unseen([&] { return workspace.inference(); });
  if (inference == nullptr) return pass("not enough memory");

  const Clock::time_point start = Clock::now();
  Order order;
  if (const char* why = inference->infer(call, order)) return pass(why);
  const Mappings& mappings = inference->mappings();
  const Attempt attempt = try_sort(call, order, mappings, workspace);
  const Sorted& sorted = attempt.sorted;
  if (sorted.failure != nullptr) return pass(sorted.failure);
  const bool stable = unseen([&] { return sorts_stably(call.count, call.size); });
  if (!judge(call, order, mappings, sorted, original, stable)) {
    restore(call, sorted.input);
    return pass("comparator misunderstood");
  }
  const std::chrono::nanoseconds taken = Clock::now() - start;
  if (drawn(process.verify_rate)) verify(call, sorted, workspace, original);
  unseen([&] {
    process.counters->add_call(kOperation, attempt.implementation, call.count * call.size,
                               static_cast<uint64_t>(taken.count()));
    return true;
  });
  return true;
}

bool try_call(const Call& call, hoist_qsort_r* original, const void* frame) {
  Process* const process = unseen([] { return &Process::get(); });
  if (process == nullptr) return false;
  if (process->switched_off) return pass("switched off by --verify");
  Workspace* const workspace = unseen([&] { return Workspace::take(frame); });
  if (workspace == nullptr) return pass("called by a comparator, or when the thread ends");
  const bool done = sort(call, original, *process, *workspace);
  workspace->give_back();
  return done;
}

}  // namespace
}  // namespace hoist::qsort

bool hoist_qsort(void* base, size_t count, size_t size, hoist_compare* compare, void* context,
                 hoist_qsort_r* original) {
  constexpr size_t kFewest = 2;
  if (count < kFewest || count > UINT32_MAX || size == 0) return false;
  const hoist::qsort::Call call = {static_cast<std::byte*>(base), count, size, compare, context};
  return hoist::qsort::try_call(call, original, __builtin_frame_address(0));
}
