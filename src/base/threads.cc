#include "base/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/cgroup.h"
#include "base/crash_fallback.h"
#include "base/fork.h"
#include "base/option_values.h"

namespace hoist {
namespace {

int online_cpus() { return std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))); }

// Affinity masks: CPU_ALLOC_SIZE() bytes in words.
using Mask = std::vector<unsigned long>;
cpu_set_t* set_of(Mask& mask) { return reinterpret_cast<cpu_set_t*>(mask.data()); }
size_t size_of(const Mask& mask) { return mask.size() * sizeof(unsigned long); }

// The union of the threads' masks (0: the calling thread); empty: nobody knows.
Mask affinity_of(const std::vector<pid_t>& threads) {
  // The mask grows until the kernel's fits: machines with more than 1024 CPUs exist.
  for (int cpus = 1024; cpus <= (1 << 20); cpus *= 4) {
    Mask all(CPU_ALLOC_SIZE(cpus) / sizeof(unsigned long));
    Mask one(all.size());
    bool any = false;
    for (const pid_t thread : threads) {
      // It may have ended.
      if (::sched_getaffinity(thread, size_of(one), set_of(one)) != 0) continue;
      CPU_OR_S(size_of(all), set_of(all), set_of(all), set_of(one));
      any = true;
    }
    if (any) return all;
  }
  return {};
}

int affinity_cpus(const std::vector<pid_t>& threads) try {
  Mask mask = affinity_of(threads);
  return mask.empty() ? online_cpus() : std::max(CPU_COUNT_S(size_of(mask), set_of(mask)), 1);
} catch (const std::bad_alloc&) {
  return online_cpus();
}

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> threads = {0};
  try {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      threads.push_back(static_cast<pid_t>(std::atoi(entry.path().filename().c_str())));
    }
  } catch (const std::exception&) {  // no /proc, no memory: those that are known
  }
  return threads;
}

int within_quota(int cpus) {
  const int quota = cgroup_cpus();
  return std::max(quota > 0 ? std::min(cpus, quota) : cpus, 1);
}

thread_local bool inside_pool = false;

}  // namespace

int usable_cpus() {
  int cpus = within_quota(affinity_cpus({0}));
  if (const auto wanted = option_number(OptionId::threads)) {
    cpus = static_cast<int>(std::min<uint64_t>(static_cast<uint64_t>(cpus), *wanted));
  }
  return std::max(cpus, 1);
}

void run_on_process_cpus() try {
  if (affinity_cpus({0}) >= online_cpus()) return;
  Mask mask = affinity_of(threads_of_process());
  if (!mask.empty()) ::sched_setaffinity(0, size_of(mask), set_of(mask));
} catch (const std::bad_alloc&) {
}

int process_cpus() { return within_quota(affinity_cpus(threads_of_process())); }

struct ThreadPool::State {
  explicit State(int size) : threads(std::max(size, 1)) {}

  // Indices come from `next`. It lies on its caller's stack, and stays there while `helpers` are
  // in it.
  struct Loop {
    size_t count = 0;
    const std::function<void(size_t)>* body = nullptr;
    std::atomic<size_t> next{0};
    size_t helpers = 0;     // this and `later` under the state's mutex
    Loop* later = nullptr;  // in the list of loops
    std::exception_ptr error;
    std::mutex error_mutex;

    size_t left() const {
      const size_t begun = next.load(std::memory_order_relaxed);
      return begun < count ? count - begun : 0;
    }
  };

  // As many workers as there is work for, of those that are not there yet. RLIMIT_NPROC, a full
  // cgroup or no memory may refuse some: the threads that there are do the work.
  void start_for(size_t helpers) {
    const size_t wanted = std::min(static_cast<size_t>(threads) - 1, helpers);
    if (workers.size() >= wanted || is_refused) return;
    const sigset_t blocked = signals_for_threads_to_block();
    sigset_t before;
    ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
    try {
      while (workers.size() < wanted) workers.emplace_back([this] { work(); });
    } catch (...) {
      is_refused = true;  // asking again at every loop would cost more than it gives
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void begin(Loop& loop) {
    {
      const std::lock_guard lock(mutex);
      size_t useful = loop.count - 1;
      for (const Loop* other = loops; other != nullptr; other = other->later) {
        useful += other->left() + other->helpers;
      }
      start_for(useful);
      loop.later = std::exchange(loops, &loop);
    }
    wake(loop.count - 1);
  }

  // Once nobody is in the loop any more.
  void end(Loop& loop) {
    std::unique_lock lock(mutex);
    Loop** at = &loops;
    while (*at != &loop) at = &(*at)->later;
    *at = loop.later;
    left.wait(lock, [&] { return loop.helpers == 0; });
  }

  static void run(Loop& loop) {
    const bool was_inside = std::exchange(inside_pool, true);
    for (size_t i = loop.next++; i < loop.count; i = loop.next++) {
      try {
        (*loop.body)(i);
      } catch (...) {
        const std::lock_guard lock(loop.error_mutex);
        if (!loop.error) loop.error = std::current_exception();
        loop.next = loop.count;
      }
    }
    inside_pool = was_inside;
  }

  // Wakes as many workers as can have something to do.
  void wake(size_t useful) {
    ++generation;
    if (useful >= workers_started) return generation.notify_all();
    for (size_t i = 0; i < useful; ++i) generation.notify_one();
  }

  // The loop that has the fewest helpers, of those with something left.
  Loop* join_loop() {
    const std::lock_guard lock(mutex);
    Loop* best = nullptr;
    for (Loop* loop = loops; loop != nullptr; loop = loop->later) {
      if (loop->left() != 0 && (best == nullptr || loop->helpers < best->helpers)) best = loop;
    }
    if (best != nullptr) ++best->helpers;
    return best;
  }

  void leave_loop(Loop& loop) {
    const std::lock_guard lock(mutex);
    if (--loop.helpers == 0) left.notify_all();
  }

  void work() {
    ++workers_started;
    uint32_t seen = 0;
    while (!stopping) {
      while (Loop* const loop = join_loop()) {
        run(*loop);
        leave_loop(*loop);
      }
      generation.wait(seen);
      seen = generation;
    }
  }

  const int threads;
  const OwnerProcess owner;
  std::mutex mutex;
  std::condition_variable left;  // a loop, by its last helper
  bool is_refused = false;       // the system gave no more threads
  Loop* loops = nullptr;         // that helpers may join
  std::vector<std::thread> workers;
  std::atomic<uint32_t> workers_started = 0;
  std::atomic<uint32_t> generation = 0;  // changes with every loop
  std::atomic<bool> stopping = false;
};

ThreadPool::ThreadPool(int threads) : state_(new State(threads)) {}

ThreadPool::~ThreadPool() {
  State* const state = state_;
  if (!state->owner.is_current()) return;  // the threads stayed in the parent: nothing to join
  state->stopping = true;
  ++state->generation;
  state->generation.notify_all();
  for (std::thread& worker : state->workers) worker.join();
  delete state;
}

ThreadPool& ThreadPool::process() {
  // Never destroyed: threads may still be busy when static destructors run in the host program. No
  // guard: a child could wait for ever for the thread that was here when its parent forked.
  static constinit std::atomic<ThreadPool*> pool = nullptr;
  ThreadPool* known = pool.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  auto fresh = std::make_unique<ThreadPool>(usable_cpus());
  if (!pool.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel)) return *known;
  return *fresh.release();
}

int ThreadPool::size() const { return state_.load(std::memory_order_acquire)->threads; }

ThreadPool::State& ThreadPool::own_state() {
  State* state = state_.load(std::memory_order_acquire);
  if (state->owner.is_current()) return *state;
  // After fork the old state's threads and locks mean nothing; it is left behind on purpose. Of the
  // child's threads that come here at once, one puts the new state in place.
  auto fresh = std::make_unique<State>(state->threads);
  if (!state_.compare_exchange_strong(state, fresh.get(), std::memory_order_acq_rel)) return *state;
  return *fresh.release();
}

void ThreadPool::parallel_for(size_t count, const std::function<void(size_t)>& body) {
  State& state = own_state();
  State::Loop loop;
  loop.count = count;
  loop.body = &body;
  const bool alone = state.threads == 1 || count <= 1 || inside_pool;
  if (alone) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  // A thread that were cancelled while it waits would take the loop away from its helpers.
  const int before = errno;
  int cancellation = 0;
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
  state.begin(loop);
  State::run(loop);
  state.end(loop);
  ::pthread_setcancelstate(cancellation, nullptr);
  errno = before;
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace hoist
