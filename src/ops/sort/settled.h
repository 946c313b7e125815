// Which lines of a sorted sequence stand behind the line before because the two were compared (or
// because the sequence around them was sorted by comparison), so that nobody need prove it again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace hoist::sort {

class Settled {
 public:
  // Forgets everything and makes room for `count` lines. With 0, or without memory, nothing is ever
  // known.
  void reset(size_t count) {
    words_.reset(count > 0 ? new (std::nothrow) std::atomic<uint64_t>[(count + 63) / 64]()
                           : nullptr);
  }

  // The lines [first, first + count) are in order among themselves. Threads may mark lines of their
  // own at the same time.
  void mark(size_t first, size_t count) {
    if (!words_) return;
    for (size_t i = first + 1; i < first + count; ++i) {
      words_[i / 64].fetch_or(uint64_t{1} << (i % 64), std::memory_order_relaxed);
    }
  }

  // Line i stands rightly behind line i - 1.
  bool operator[](size_t i) const {
    return words_ && (words_[i / 64].load(std::memory_order_relaxed) >> (i % 64) & 1) != 0;
  }

 private:
  std::unique_ptr<std::atomic<uint64_t>[]> words_;
};

}  // namespace hoist::sort
