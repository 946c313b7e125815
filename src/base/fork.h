// Objects over fork(). A child has a copy of all memory and none of its parent's other threads: a
// lock that one of them held stays locked, what one was changing stays half changed, threads that
// an object waits for never end, and its files are still the parent's.
//
// An object that owns threads, files or locks asks whether it still is where it was made, and where
// it is not it answers what can be answered without them, refuses the rest, and leaves behind what
// it owns: nothing is joined, written, unlocked or freed.
//
//   Index::~Index() {
//     if (!owner_.is_current()) return (void)state_.release();
//     …
//   }
//
// What a child may read is guarded by a ForkSafeMutex, or not changed at all once it can be seen.
// Descriptors with locks that a child must not keep are PrivateFds (base/private_fd.h), and things
// of which each process has its own PerProcess (base/per_process.h).
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace hoist {

// The process that made an object.
class OwnerProcess {
 public:
  OwnerProcess();
  // Whether this is that process. Also where a grandchild has the number of a process that is gone.
  bool is_current() const;
  // The same without a system call, for what takes a microsecond: it does not know children that
  // were made by a bare clone(), past the C library.
  bool is_not_forked() const;

 private:
  pid_t pid_;
  uint32_t generation_;
};

// While one lives no fork() happens: it waits. For some instructions that change what a child
// reads. Inside, a thread waits for nothing but a ForkSafeMutex's readers, and enters no second
// one.
class ForkBarrier {
 public:
  ForkBarrier();
  ~ForkBarrier();
  ForkBarrier(const ForkBarrier&) = delete;
  ForkBarrier& operator=(const ForkBarrier&) = delete;
};

// A shared mutex that can be locked shared in a child, whoever held it in the parent: nobody holds
// it exclusively, or waits to, while a process forks. Both for some instructions only, with nothing
// else to be waited for inside, and no thread twice.
class ForkSafeMutex {
 public:
  ForkSafeMutex() = default;
  ~ForkSafeMutex() = default;  // a lock of this kind has nothing to be destroyed
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock_shared() { ::pthread_rwlock_rdlock(&lock_); }
  void unlock_shared() { ::pthread_rwlock_unlock(&lock_); }
  // In a child only where the mutex was made there: readers that the child lacks never unlock it.
  void lock();
  void unlock();

 private:
  // Readers without end would keep a writer waiting, and that one who forks.
  pthread_rwlock_t lock_ = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
};

}  // namespace hoist
