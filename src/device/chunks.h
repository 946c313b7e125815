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

// Large chunks cost least, but the link is idle while the first are filled, and the host while the
// last are on their way: so the size rises from `smallest` to `largest` with the distance from the
// nearer end. With smallest == largest all are of that size, but for the last.
class Chunks {
 public:
  // `smallest` and `largest` are multiples of kGranule, or equal.
  Chunks(uint64_t size, size_t smallest, size_t largest, int lanes)
      : size_(size), smallest_(smallest), largest_(largest), lanes_(lanes) {}

  // Thread-safe. Nothing: all are taken, or stop() was called.
  std::optional<Chunk> take() {
    uint64_t offset = next_.load(std::memory_order_relaxed);
    while (offset < size_) {
      const size_t size = size_at(offset);
      if (next_.compare_exchange_weak(offset, offset + size, std::memory_order_relaxed)) {
        return Chunk{offset, size};
      }
    }
    return std::nullopt;
  }

  void stop() { next_.store(size_, std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kGranule = 64 << 10;  // keeps chunks of files aligned to their blocks

  size_t size_at(uint64_t offset) const {
    const uint64_t left = size_ - offset;
    if (smallest_ == largest_) return static_cast<size_t>(std::min<uint64_t>(left, largest_));
    const uint64_t share = std::min(offset, left) / static_cast<unsigned>(lanes_);
    const uint64_t size = std::clamp<uint64_t>(share / kGranule * kGranule, smallest_, largest_);
    return static_cast<size_t>(std::min(left, size));
  }

  const uint64_t size_;
  const size_t smallest_;
  const size_t largest_;
  const int lanes_;
  std::atomic<uint64_t> next_ = 0;
};

}  // namespace hoist::device
