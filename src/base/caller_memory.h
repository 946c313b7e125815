// Memory of a library call that other threads than the caller's are about to work on.
//
// A fault in it belongs on the calling thread: programs handle them (garbage collectors that
// protect pages, readers of mapped files that others cut off), and our threads hold the program's
// signals back, so that the kernel would end the process instead. A program without handlers for
// such faults ends by the same signal either way. In one that has some, pages are brought in by
// madvise(), which returns an error where an access would raise a signal; the call then goes to the
// original, on the calling thread.
//
//   const CallerMemory memory;
//   if (!memory.readable(source, size) || !memory.writable(target, room)) … the original …
//
// What another thread or process does to the memory after the look is not noticed. Thread-safe.
#pragma once

#include <cstddef>

namespace hoist {

class CallerMemory {
 public:
  CallerMemory();
  // With faults watched or not, whatever handlers there are (for tests).
  explicit CallerMemory(bool watched) : watched_(watched) {}

  // Whether the program has handlers for faults.
  bool watched() const { return watched_; }

  bool readable(const void* data, size_t size) const;
  // Its content stays.
  bool writable(void* data, size_t size) const;

 private:
  bool watched_;
};

// Whether both ranges share a byte.
bool overlap(const void* a, size_t a_size, const void* b, size_t b_size);

}  // namespace hoist
