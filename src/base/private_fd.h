// A descriptor that no child has: it is closed there when the process forks. A lock on an open file
// (flock()) is as well the child's, which would hold it for as long as it lives, however soon its
// parent dies. Destruction unlocks it: a child that has not come so far has it still.
#pragma once

#include <memory>

#include "base/file.h"

namespace hoist {

class PrivateFd {
 public:
  PrivateFd() = default;
  explicit PrivateFd(UniqueFd fd);
  PrivateFd(PrivateFd&&) noexcept = default;
  PrivateFd& operator=(PrivateFd&&) noexcept = default;

  // -1: there is none, or this is a child of the process that has it.
  int get() const { return entry_ == nullptr ? -1 : entry_->fd; }
  bool valid() const { return get() >= 0; }

  // What a fork looks through.
  struct Entry {
    int fd = -1;
    Entry* next = nullptr;
    Entry* previous = nullptr;
  };

 private:
  struct Close {
    void operator()(Entry* entry) const;
  };
  std::unique_ptr<Entry, Close> entry_;
};

}  // namespace hoist
