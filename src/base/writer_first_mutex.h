// A mutex that many may share, and whoever wants it alone comes before those who come later: never
// held off by a stream of others, as with std::shared_mutex of the GNU library. Not recursive.
//
//   std::shared_lock with_others(mutex);
//   std::lock_guard alone(mutex);
#pragma once

#include <pthread.h>

namespace hoist {

class WriterFirstMutex {
 public:
  WriterFirstMutex() = default;
  ~WriterFirstMutex() { ::pthread_rwlock_destroy(&lock_); }
  WriterFirstMutex(const WriterFirstMutex&) = delete;
  WriterFirstMutex& operator=(const WriterFirstMutex&) = delete;

  void lock() { ::pthread_rwlock_wrlock(&lock_); }
  bool try_lock() { return ::pthread_rwlock_trywrlock(&lock_) == 0; }
  void unlock() { ::pthread_rwlock_unlock(&lock_); }
  void lock_shared() { ::pthread_rwlock_rdlock(&lock_); }
  bool try_lock_shared() { return ::pthread_rwlock_tryrdlock(&lock_) == 0; }
  void unlock_shared() { ::pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_ = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
};

}  // namespace hoist
