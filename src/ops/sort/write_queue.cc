#include "ops/sort/write_queue.h"

#include <utility>

namespace hoist::sort {

WriteQueue::WriteQueue(Output& output, size_t block_size, size_t blocks)
    : output_(output), block_size_(block_size), may_make_(blocks) {
  // So that put() has nothing to throw, and no block is lost.
  free_.reserve(blocks);
  waiting_.reserve(blocks);
}

WriteQueue::Block WriteQueue::take(uint64_t position) {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return !free_.empty() || may_make_ > 0; });
  if (free_.empty()) {
    --may_make_;
    lock.unlock();
    try {
      return {std::make_unique_for_overwrite<char[]>(block_size_), 0, position};
    } catch (...) {
      lock.lock();
      ++may_make_;
      written_.notify_one();  // nobody may wait for a block that is never made
      throw;
    }
  }
  Block block{std::move(free_.back()), 0, position};
  free_.pop_back();
  return block;
}

void WriteQueue::put(Block block) {
  std::unique_lock lock(mutex_);
  waiting_.push_back(std::move(block));
  if (writing_) return;
  writing_ = true;
  while (!waiting_.empty()) {
    Block next = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    lock.unlock();
    if (next.position < output_.failed_at()) {
      output_.write_at(next.position, next.data.get(), next.size);
    }
    lock.lock();
    free_.push_back(std::move(next.data));
    written_.notify_one();
  }
  writing_ = false;
}

}  // namespace hoist::sort
