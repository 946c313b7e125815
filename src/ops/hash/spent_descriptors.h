// Descriptors of files that have been read, to be closed together: one system call instead of one a
// file. A thread's own object.
#pragma once

#include "base/file.h"

namespace hoist::hash {

class SpentDescriptors {
 public:
  SpentDescriptors() = default;
  SpentDescriptors(const SpentDescriptors&) = delete;
  SpentDescriptors& operator=(const SpentDescriptors&) = delete;
  ~SpentDescriptors() { close_all(); }

  // Closes those it holds once they are many, or when `fd` is not the number that follows theirs.
  void add(UniqueFd fd);
  void close_all();
  bool empty() const { return count_ == 0; }

 private:
  // Nothing but ours lies in [first_, first_ + count_), so the range can be closed as one.
  int first_ = 0;
  int count_ = 0;
};

}  // namespace hoist::hash
