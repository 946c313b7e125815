// Lets many threads fill blocks and one at a time write them: the kernel takes one writer of a file
// at a time, and the others would spend their time waiting for it.
//
//   WriteQueue queue(output, 1 << 20, 2 * threads);  // output.reserve() was true
//   WriteQueue::Block block = queue.take(position);  // on each thread
//   … fill block.data[block.size ++ …] …
//   queue.put(std::move(block));                     // and take another
//
// Whoever puts a block while nobody writes writes it, and what others put meanwhile. So when all
// threads have put what they took, everything is written.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ops/sort/output.h"

namespace hoist::sort {

class WriteQueue {
 public:
  struct Block {
    std::unique_ptr<char[]> data;
    size_t size = 0;        // bytes filled so far, of block_size()
    uint64_t position = 0;  // of the first one in the output
  };

  // At most `blocks` blocks of `block_size` bytes, made when they are needed: one at least, and to
  // keep all busy more than there are threads.
  WriteQueue(Output& output, size_t block_size, size_t blocks);
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  size_t block_size() const { return block_size_; }

  // An empty block; waits until one has been written where all are in use. Throws std::bad_alloc.
  Block take(uint64_t position);

  // Has the block written, unless a write has failed before its place (Output::failed_at()). Who
  // has taken a block puts it: where all are lost, others wait for ever.
  void put(Block block);

 private:
  Output& output_;
  const size_t block_size_;
  std::mutex mutex_;
  std::condition_variable written_;
  size_t may_make_;
  std::vector<std::unique_ptr<char[]>> free_;
  std::vector<Block> waiting_;
  bool writing_ = false;
};

}  // namespace hoist::sort
