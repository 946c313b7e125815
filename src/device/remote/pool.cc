#include "device/remote/pool.h"

#include <algorithm>

namespace hoist::device::remote {

PoolAllocator::PoolAllocator(uint64_t size) {
  if (size > 0) free_.emplace(0, size);
}

std::optional<uint64_t> PoolAllocator::allocate(uint64_t size) {
  const std::lock_guard lock(mutex_);
  if (size > UINT64_MAX - kAlignment) return std::nullopt;
  const uint64_t rounded = std::max((size + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  const auto range = std::find_if(free_.begin(), free_.end(), [&](const auto& candidate) {
    return candidate.second >= rounded;
  });
  if (range == free_.end()) return std::nullopt;
  const uint64_t offset = range->first;
  const uint64_t left = range->second - rounded;
  free_.erase(range);
  if (left > 0) free_.emplace(offset + rounded, left);
  blocks_.emplace(offset, Block{rounded});
  used_ += rounded;
  return offset;
}

void PoolAllocator::free(uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(offset);
  if (block == blocks_.end()) return;
  block->second.owned = false;
  give_back_if_unused(block);
}

std::optional<uint64_t> PoolAllocator::retain(uint64_t offset, uint64_t length) {
  const std::lock_guard lock(mutex_);
  auto block = blocks_.upper_bound(offset);
  if (block == blocks_.begin()) return std::nullopt;
  --block;
  const uint64_t within = offset - block->first;
  if (!block->second.owned || within > block->second.size || length > block->second.size - within) {
    return std::nullopt;
  }
  ++block->second.requests;
  return block->first;
}

void PoolAllocator::release(uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(offset);
  if (block == blocks_.end()) return;
  --block->second.requests;
  give_back_if_unused(block);
}

uint64_t PoolAllocator::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

void PoolAllocator::give_back_if_unused(std::map<uint64_t, Block>::iterator block) {
  if (block->second.owned || block->second.requests > 0) return;
  used_ -= block->second.size;
  auto range = free_.emplace(block->first, block->second.size).first;
  blocks_.erase(block);
  if (const auto next = std::next(range);
      next != free_.end() && range->first + range->second == next->first) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin()) return;
  const auto previous = std::prev(range);
  if (previous->first + previous->second == range->first) {
    previous->second += range->second;
    free_.erase(range);
  }
}

}  // namespace hoist::device::remote
