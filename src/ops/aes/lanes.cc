#include "ops/aes/lanes.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

namespace hoist::aes {
namespace {

// Longer than a program takes to get its next buffer ready, as a rule.
constexpr std::chrono::milliseconds kPatience(50);
// Beside the program's thread-local variables, which lie on the same stack.
constexpr size_t kStackBytes = 256 << 10;

// All but those that a fault of the thread itself raises.
sigset_t signals_from_elsewhere() {
  sigset_t set;
  ::sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    ::sigdelset(&set, fault);
  }
  return set;
}

// Waits until the kernel has counted out a thread that is about to end. On a loaded machine that
// takes milliseconds; a tracer can hold it there for ever, so there is an end to waiting.
void wait_until_gone(pid_t thread) {
  constexpr int kQuickLooks = 1000;
  constexpr int kMostLooks = kQuickLooks + 200;
  constexpr timespec kMoment = {0, 1'000'000};
  const pid_t process = ::getpid();
  for (int i = 0; i < kMostLooks && ::syscall(SYS_tgkill, process, thread, 0) == 0; ++i) {
    if (i < kQuickLooks) {
      ::sched_yield();
    } else {
      ::nanosleep(&kMoment, nullptr);
    }
  }
}

thread_local bool calls_lanes = false;

// Whether the fork that is under way on this thread found no call under way.
thread_local bool forks_between_calls = false;

class LanePool {
 public:
  // Threads that are started have the caller's mask of signals.
  void run(size_t lanes, void (*call)(void* context, size_t lane), void* context) {
    const std::lock_guard one_call(calling_);
    Job job = {call, context, 1, lanes};
    const size_t waiting = publish(job);
    if (waiting < lanes) {
      wake_.notify_all();
      for (size_t i = waiting + 1; i < lanes && start_thread(); ++i) continue;
    } else {
      for (size_t i = 1; i < lanes; ++i) wake_.notify_one();
    }
    call(context, 0);
    std::unique_lock lock(mutex_);
    job_ = nullptr;  // late risers find nothing
    changed_.wait(lock, [&] { return running_ == 0; });
  }

  // Around fork(). Threads that wait end. Where another thread's call is under way, the child,
  // which has neither, begins anew.
  void before_fork() {
    forks_between_calls = calling_.try_lock();
    if (!forks_between_calls) return;
    std::unique_lock lock(mutex_);
    ending_ = true;
    wake_.notify_all();
    changed_.wait(lock, [&] { return threads_ == 0; });
    ending_ = false;
    for (pid_t& thread : ended_) {
      if (thread != 0) wait_until_gone(std::exchange(thread, 0));
    }
  }
  void after_fork_in_parent() {
    if (forks_between_calls) calling_.unlock();
  }
  void after_fork_in_child() {
    if (forks_between_calls) {
      calling_.unlock();
    } else {
      new (this) LanePool;
    }
  }

 private:
  struct Job {
    void (*call)(void* context, size_t lane);
    void* context;
    size_t next_lane;
    size_t lanes;
  };

  // Gives how many threads there are.
  size_t publish(Job& job) {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    return threads_;
  }

  bool start_thread() {
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) != 0) return false;
    count_thread(+1);
    const size_t least = static_cast<size_t>(std::max(::sysconf(_SC_THREAD_STACK_MIN), 0L));
    pthread_t thread;
    const auto work = [](void* pool) -> void* {
      static_cast<LanePool*>(pool)->work();
      return nullptr;
    };
    const bool started = ::pthread_attr_setstacksize(&attributes, least + kStackBytes) == 0 &&
                         ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                         ::pthread_create(&thread, &attributes, work, this) == 0;
    ::pthread_attr_destroy(&attributes);
    if (!started) count_thread(-1);
    return started;
  }

  void count_thread(int change) {
    const std::lock_guard lock(mutex_);
    threads_ += static_cast<size_t>(change);
  }

  bool has_work() const { return job_ != nullptr && job_->next_lane < job_->lanes; }

  void work() {
    std::unique_lock lock(mutex_);
    while (wake_.wait_for(lock, kPatience, [&] { return ending_ || has_work(); }) && !ending_) {
      const Job& job = *job_;
      const size_t lane = job_->next_lane++;
      ++running_;
      lock.unlock();
      job.call(job.context, lane);
      lock.lock();
      if (--running_ == 0) changed_.notify_all();
    }
    ended_[threads_ % kMaxLanes] = static_cast<pid_t>(::syscall(SYS_gettid));
    --threads_;
    changed_.notify_all();
  }

  std::mutex calling_;  // held during a call, and during a fork between calls
  std::mutex mutex_;    // guards all that follows
  std::condition_variable wake_;
  std::condition_variable changed_;
  Job* job_ = nullptr;
  size_t threads_ = 0;
  size_t running_ = 0;
  bool ending_ = false;
  std::array<pid_t, kMaxLanes> ended_ = {};  // the last ones
};

// Never destroyed: threads may be there when static destructors run in the host program. Null where
// memory ran out.
LanePool* pool() {
  static LanePool* const made = [] {
    auto* const pool = new (std::nothrow) LanePool;
    if (pool == nullptr ||
        ::pthread_atfork([] { hoist::aes::pool()->before_fork(); },
                         [] { hoist::aes::pool()->after_fork_in_parent(); },
                         [] { hoist::aes::pool()->after_fork_in_child(); }) == 0) {
      return pool;
    }
    delete pool;
    return static_cast<LanePool*>(nullptr);
  }();
  return made;
}

}  // namespace

bool in_lanes() { return calls_lanes; }

void run_lanes(size_t lanes, void (*call)(void* context, size_t lane), void* context) {
  LanePool* const threads = lanes > 1 && !calls_lanes ? pool() : nullptr;
  if (threads == nullptr) return call(context, 0);
  const sigset_t blocked = signals_from_elsewhere();
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  calls_lanes = true;
  threads->run(lanes, call, context);
  calls_lanes = false;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace hoist::aes
