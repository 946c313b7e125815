#include "ops/aes/locked_memory.h"

#include <pthread.h>
#include <sys/mman.h>

#include <mutex>

namespace hoist::aes {
namespace {

// Small: the limit on locked memory is the host program's, which may have use for it, too.
constexpr size_t kArenaBytes = 16 << 10;

// Cells of one size. Arenas are never unmapped: a program has as many as it once needed at a time.
class CellPool {
 public:
  explicit constexpr CellPool(size_t cell_bytes) : cell_bytes_(cell_bytes) {}

  void* take() {
    const std::lock_guard lock(mutex_);
    if (free_ == nullptr) grow();
    if (free_ == nullptr) return nullptr;
    FreeCell* const cell = free_;
    free_ = cell->next;
    cell->next = nullptr;
    return cell;
  }

  void give_back(void* cell) {
    OPENSSL_cleanse(cell, cell_bytes_);
    const std::lock_guard lock(mutex_);
    free_ = new (cell) FreeCell{free_};
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct FreeCell {
    FreeCell* next;
  };

  void grow() {
    void* const arena =
        ::mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED) return;
    (void)::mlock(arena, kArenaBytes);
    (void)::madvise(arena, kArenaBytes, MADV_DONTDUMP);
    for (size_t at = kArenaBytes; at >= cell_bytes_; at -= cell_bytes_) {
      free_ = new (static_cast<char*>(arena) + at - cell_bytes_) FreeCell{free_};
    }
  }

  const size_t cell_bytes_;
  std::mutex mutex_;
  FreeCell* free_ = nullptr;
};

// Raw keys are many and small; what follows from one is rare, and larger. Never destroyed: host
// programs free contexts at exit, too.
constinit CellPool keys(LockedKey::kCapacity);
constinit CellPool derived(kLargestCell);

// A fork waits until no thread is inside a pool: what a thread that the child lacks had locked
// would stay locked there.
void keep_whole_over_fork() {
  static const int registered = ::pthread_atfork(
      [] {
        keys.lock();
        derived.lock();
      },
      [] {
        derived.unlock();
        keys.unlock();
      },
      [] {
        derived.unlock();
        keys.unlock();
      });
  (void)registered;
}

CellPool& pool_for(size_t size) {
  keep_whole_over_fork();
  return size <= LockedKey::kCapacity ? keys : derived;
}

}  // namespace

void* take_locked_cell(size_t size) { return pool_for(size).take(); }

void return_locked_cell(void* cell, size_t size) { pool_for(size).give_back(cell); }

}  // namespace hoist::aes
