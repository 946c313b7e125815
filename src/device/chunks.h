// How a transfer is cut, and who does what: threads take chunks in ascending order until there are
// none.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hoist::device {

struct Chunk {
  uint64_t offset = 0;
  size_t size = 0;
};

// All of one size, but for the last.
class Chunks {
 public:
  // `size` and `chunk` in bytes.
  Chunks(uint64_t size, size_t chunk) : size_(size), chunk_(chunk) {}

  // Thread-safe. Nothing: all are taken.
  std::optional<Chunk> take() {
    const uint64_t offset = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (offset >= size_) return std::nullopt;
    return Chunk{offset, static_cast<size_t>(std::min<uint64_t>(size_ - offset, chunk_))};
  }

 private:
  const uint64_t size_;
  const size_t chunk_;
  std::atomic<uint64_t> next_ = 0;
};

}  // namespace hoist::device
