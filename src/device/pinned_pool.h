// Page-locked host memory, which a device copies to and from by itself at the link's full rate.
// Locking costs more than most copies (26 GB/s at best), so blocks are kept and handed out again:
//
//   PinnedPool pool(*device);                        // up to 1 GiB
//   Result<PinnedBlock> block = pool.allocate(size);
//   stream.copy(buffer.data(), block->data(), size);
//   event.record(stream);
//   block->release_after(std::move(event));          // or wait for the copy, and let it go
//
// Blocks come in powers of two from 4 KiB to 64 MiB, of whole pages, on the NUMA node of the device
// where that is known. For the CPU device they are ordinary pages.
//
// Thread-safe. The device must outlive the pool, the pool its blocks. Blocks are not cleared
// between users of one pool: what must not see another's bytes has a pool of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/result.h"
#include "device/device.h"
#include "device/stream.h"

namespace hoist::device {

class PinnedPool;

// Returned to its pool at the end of its life.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  PinnedBlock(PinnedBlock&& other) noexcept { *this = std::move(other); }
  PinnedBlock& operator=(PinnedBlock&& other) noexcept;
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;
  ~PinnedBlock();

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }  // as asked for

  // Returns it now, with work still on it: it is handed out again when `event`, recorded behind
  // that work, is done, and never where that cannot be known any more (the device was lost).
  void release_after(Event event);
  // The same with work still on all of these streams, which may be of a device that was lost, or of
  // a hoistd that has stopped and may go on.
  void release_behind(std::span<Stream* const> streams);
  // Returns it, never to be handed out again: a lost device may still write it.
  void abandon();

 private:
  friend class PinnedPool;
  PinnedBlock(PinnedPool& pool, std::byte* data, size_t size)
      : pool_(&pool), data_(data), size_(size) {}

  PinnedPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

struct PinnedStatistics {
  uint64_t limit = 0;        // bytes that may be locked
  uint64_t pinned = 0;       // bytes that are
  uint64_t in_use = 0;       // of these, in blocks that are held
  uint64_t quarantined = 0;  // of these, returned but never to be handed out again
  uint64_t allocations = 0;  // blocks handed out
  uint64_t pins = 0;         // how often memory had to be locked for that
};

class PinnedPool {
 public:
  static constexpr size_t kSmallest = size_t{4} << 10;
  static constexpr size_t kLargest = size_t{64} << 20;
  static constexpr size_t kDefaultLimit = size_t{1} << 30;

  explicit PinnedPool(Device& device, size_t limit = kDefaultLimit);
  // What is quarantined on a device that was lost stays mapped: it may still be written.
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  Device& device() const { return device_; }

  // `invalid_argument` above kLargest; `exhausted` where the limit, or the system, gives no more.
  Result<PinnedBlock> allocate(size_t size);

  PinnedStatistics statistics() const;
  // Unlocks memory of which no block is held.
  void trim();

 private:
  friend class PinnedBlock;
  static constexpr size_t kClasses = 15;  // 4 KiB << 0 … << 14

  struct Slab {  // locked at once; its blocks are of one class
    size_t bytes = 0;
    size_t size_class = 0;
    size_t held = 0;
  };
  using Slabs = std::map<std::byte*, Slab>;
  struct Pending {
    Event event;
    std::byte* data;
  };

  Slabs::iterator slab_of(std::byte* data);
  void give_back(std::byte* data);  // under the lock
  void collect();                   // under the lock: what pending blocks' events allow
  void trim_locked();               // under the lock
  void release(PinnedBlock& block, Event* event);
  void abandon(PinnedBlock& block);
  void quarantine(std::byte* data);  // under the lock

  const OwnerProcess process_;  // to its children the blocks are lost
  Device& device_;
  mutable std::mutex mutex_;
  PinnedStatistics statistics_;
  Slabs slabs_;
  std::array<std::vector<std::byte*>, kClasses> free_;
  std::vector<Pending> pending_;
};

}  // namespace hoist::device
