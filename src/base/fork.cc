#include "base/fork.h"

#include <pthread.h>
#include <unistd.h>

namespace hoist {
namespace {

// Forks since the first process of ours began.
std::atomic<uint32_t> generation = 0;

// Shared by those inside a barrier, exclusive for who forks. Who forks goes first: others come
// without end.
pthread_rwlock_t barrier = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void before_fork() { ::pthread_rwlock_wrlock(&barrier); }
void after_fork_in_parent() { ::pthread_rwlock_unlock(&barrier); }
void after_fork_in_child() {
  generation.fetch_add(1, std::memory_order_relaxed);
#ifdef __SANITIZE_THREAD__
  ::pthread_rwlock_unlock(&barrier);  // it does not see the assignment
#endif
  // It knows of threads that wait for it, which are not here.
  barrier = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
}

[[gnu::constructor]] void watch_forks() {
  ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

OwnerProcess::OwnerProcess()
    : pid_(::getpid()), generation_(generation.load(std::memory_order_relaxed)) {}

// The number of forks tells what the process's does not, and the other way round: _Fork() and
// clone() call no handlers.
bool OwnerProcess::is_current() const {
  return generation_ == generation.load(std::memory_order_relaxed) && pid_ == ::getpid();
}

bool OwnerProcess::is_not_forked() const {
  return generation_ == generation.load(std::memory_order_relaxed);
}

ForkBarrier::ForkBarrier() { ::pthread_rwlock_rdlock(&barrier); }
ForkBarrier::~ForkBarrier() { ::pthread_rwlock_unlock(&barrier); }

void ForkSafeMutex::lock() {
  ::pthread_rwlock_rdlock(&barrier);
  ::pthread_rwlock_wrlock(&lock_);
}

void ForkSafeMutex::unlock() {
  ::pthread_rwlock_unlock(&lock_);
  ::pthread_rwlock_unlock(&barrier);
}

}  // namespace hoist
