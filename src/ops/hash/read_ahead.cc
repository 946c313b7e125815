#include "ops/hash/read_ahead.h"

#include <unistd.h>

#include <cerrno>

#include "base/quiet_thread.h"

namespace hoist::hash {

ReadAhead::ReadAhead(int fd) : fd_(fd), memory_(new uint8_t[kChunks * kChunkBytes]) {
  // next() does without one.
  if (auto thread = start_quiet_thread([this] { run(); })) thread_ = *std::move(thread);
}

ReadAhead::~ReadAhead() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

ReadAhead::Chunk ReadAhead::read_chunk(size_t index) {
  uint8_t* const data = memory_.get() + (index % kChunks) * kChunkBytes;
  ssize_t count;
  do {
    count = read(fd_, data, kChunkBytes);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return {data, 0, errno};
  return {data, static_cast<size_t>(count), 0};
}

void ReadAhead::run() {
  for (bool more = true; more;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || filled_ - consumed_ < kChunks; });
      if (stopping_) return;
    }
    const Chunk chunk = read_chunk(filled_);
    more = chunk.size > 0;
    {
      const std::lock_guard lock(mutex_);
      ring_[filled_ % kChunks] = chunk;
      ++filled_;
    }
    changed_.notify_all();
  }
}

ReadAhead::Chunk ReadAhead::next() {
  if (!thread_.joinable()) return read_chunk(0);
  std::unique_lock lock(mutex_);
  if (holding_) {
    ++consumed_;
    changed_.notify_all();
  }
  holding_ = true;
  changed_.wait(lock, [&] { return filled_ > consumed_; });
  return ring_[consumed_ % kChunks];
}

}  // namespace hoist::hash
