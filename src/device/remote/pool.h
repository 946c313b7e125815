// Which parts of the shared pool are in use; kept in the client's private memory, in offsets.
//
// A block lives until its owner freed it and every request that names it was answered: a request
// that nobody waits for any more (its deadline passed) still keeps its blocks, because the device
// may write there late. Thread-safe. First fit over the free ranges in order of offset: blocks are
// few and large, and neighbours join at once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace hoist::device::remote {

class PoolAllocator {
 public:
  static constexpr uint64_t kAlignment = 4096;

  explicit PoolAllocator(uint64_t size);

  // Offset of a block of at least `size` bytes; nothing where no free range is as large.
  std::optional<uint64_t> allocate(uint64_t size);
  // `offset` as allocate() gave it.
  void free(uint64_t offset);

  // Keeps the block that holds [offset, offset + length); its start, for release(). Nothing where
  // that is not inside one block that its owner still has.
  std::optional<uint64_t> retain(uint64_t offset, uint64_t length);
  void release(uint64_t block);

  // Bytes in blocks, those that only requests keep included.
  uint64_t used() const;

 private:
  struct Block {
    uint64_t size;
    uint64_t requests = 0;
    bool owned = true;
  };
  void give_back_if_unused(std::map<uint64_t, Block>::iterator block);

  mutable std::mutex mutex_;
  std::map<uint64_t, Block> blocks_;
  std::map<uint64_t, uint64_t> free_;  // offset, size
  uint64_t used_ = 0;
};

}  // namespace hoist::device::remote
