#include "ops/sort/write_queue.h"

#include <utility>

namespace hoist::sort {

WriteQueue::WriteQueue(Output& output, size_t block_size, size_t blocks)
    : output_(output), block_size_(block_size), may_make_(blocks) {
  free_.reserve(blocks);  // so that who writes has nothing to throw
}

WriteQueue::Block WriteQueue::take(uint64_t position) {
  std::unique_lock lock(mutex_);
  if (free_.empty() && may_make_ > 0) {
    --may_make_;
    lock.unlock();
    return {std::make_unique_for_overwrite<char[]>(block_size_), 0, position};
  }
  written_.wait(lock, [&] { return !free_.empty(); });
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
    waiting_.pop_front();
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
