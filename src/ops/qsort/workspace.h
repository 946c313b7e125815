// The memory of one call: large buffers that belong to the thread, so that a comparator that leaves
// the call, by longjmp() or an exception, strands at most one set of them. They serve the thread's
// next call from the same function or one of its callers, and go when the thread ends.
#pragma once

#include <array>
#include <cstddef>

#include "base/file.h"
#include "ops/qsort/infer.h"

namespace hoist::qsort {

class Workspace {
 public:
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // The thread's, for a call whose frame is at `frame` on the thread's own stack. Null while
  // another is under way (the comparator sorts, too), and when the thread is ending.
  static Workspace* take(const void* frame);
  // Gives memory back to the system, but for a little that the next call is likely to want.
  void give_back();

  // Null where the system refuses.
  Inference* inference();
  // Buffer number `slot` (0 to 2) with at least `size` bytes, of any content.
  std::byte* buffer(size_t slot, size_t size);

 private:
  Workspace() = default;
  ~Workspace();

  static constexpr size_t kKept = size_t{4} << 20;

  PageBuffer inference_;
  std::array<PageBuffer, 3> buffers_;
};

}  // namespace hoist::qsort
