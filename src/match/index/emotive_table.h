// The emotives of the patterns that have some, by the patterns' places in their tier. Any number of
// threads may read while one sets.
//
// Memory: about 150 bytes a pattern that has some, and what its lists hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/fork.h"
#include "match/store/stored_pattern.h"

namespace hoist::match {

class EmotiveTable {
 public:
  // Whether any pattern may have some.
  bool any() const { return any_.load(std::memory_order_acquire); }
  // nullptr where there are none.
  std::shared_ptr<const EmotiveList> get(uint32_t place) const {
    if (!any()) return nullptr;
    const std::shared_lock lock(mutex_);
    const auto found = lists_.find(place);
    return found == lists_.end() ? nullptr : found->second;
  }
  void set(uint32_t place, std::shared_ptr<const EmotiveList> list) {
    if (list == nullptr && !any_.load(std::memory_order_relaxed)) return;
    const std::unique_lock lock(mutex_);
    lists_[place] = std::move(list);
    any_.store(true, std::memory_order_release);
  }
  uint64_t memory() const {
    if (!any()) return 0;
    const std::shared_lock lock(mutex_);
    return lists_.size() * 150;
  }

 private:
  std::atomic<bool> any_ = false;
  mutable ForkSafeMutex mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<const EmotiveList>> lists_;
};

}  // namespace hoist::match
