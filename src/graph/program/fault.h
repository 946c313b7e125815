// What a program finds wrong with the values that it is given.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace hoist::graph::program {

// An index outside of its axis: the first one that a thread sees.
class Fault {
 public:
  void set(int64_t index, int64_t axis, int64_t extent) {
    if (is_set_.exchange(true)) return;
    index_ = index;
    axis_ = axis;
    extent_ = extent;
  }
  // `invalid_argument` that names the index. Not while steps run.
  Status status() const {
    if (!is_set_.load()) return {};
    return fail(ErrorCode::invalid_argument,
                "take_along_axis: index " + std::to_string(index_) + " of axis " +
                    std::to_string(axis_) + " with " + std::to_string(extent_) +
                    " elements: give one from " + std::to_string(-extent_) + " to " +
                    std::to_string(extent_ - 1));
  }

 private:
  std::atomic<bool> is_set_{false};
  int64_t index_ = 0;
  int64_t axis_ = 0;
  int64_t extent_ = 0;
};

}  // namespace hoist::graph::program
