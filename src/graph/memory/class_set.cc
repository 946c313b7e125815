#include "graph/memory/class_set.h"

#include <bit>

namespace hoist::graph {

Result<uint8_t> ClassSet::take() {
  for (size_t word = 0; word < kWords; ++word) {
    uint64_t known = taken_[word].load(std::memory_order_relaxed);
    while (known != kFull) {
      const auto bit = static_cast<size_t>(std::countr_one(known));
      // Acquires what the last holder of the class did.
      if (taken_[word].compare_exchange_weak(known, known | uint64_t{1} << bit,
                                             std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
        return static_cast<uint8_t>(word * kWordClasses + bit);
      }
    }
  }
  return fail(ErrorCode::exhausted,
              "No more classes available for allocation (all 96 classes used)");
}

void ClassSet::give_back(uint8_t index) {
  taken_[index / kWordClasses].fetch_and(~(uint64_t{1} << index % kWordClasses),
                                         std::memory_order_release);
}

size_t ClassSet::taken() const {
  size_t count = 0;
  for (const auto& word : taken_) count += static_cast<size_t>(std::popcount(word.load()));
  return count;
}

}  // namespace hoist::graph
