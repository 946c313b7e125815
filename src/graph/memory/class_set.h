// Which of the 96 classes are taken. Threads may take and give back at once; nothing is locked, so
// a child after fork() goes on from what its parent had.
//
//   Result<uint8_t> index = classes.take();
//   …
//   classes.give_back(*index);
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "graph/memory/slab.h"

namespace hoist::graph {

class ClassSet {
 public:
  // The lowest free one; `exhausted` where there is none.
  Result<uint8_t> take();
  void give_back(uint8_t index);
  size_t taken() const;

 private:
  static constexpr size_t kWords = 2;
  static constexpr size_t kWordClasses = kClasses / kWords;
  static constexpr uint64_t kFull = (uint64_t{1} << kWordClasses) - 1;

  std::atomic<uint64_t> taken_[kWords] = {};
};

}  // namespace hoist::graph
