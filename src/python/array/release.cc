#include "python/array/release.h"

#include <cstddef>
#include <new>

namespace hoist::python {
namespace {

constexpr size_t kMostNested = 16;

struct Waiting {
  void* kept;
  void (*drop)(void*);
  Waiting* next;
};

// Without destructors, because arrays may be dropped while a thread ends.
thread_local size_t nested = 0;
thread_local Waiting* waiting = nullptr;

}  // namespace

void drop_in_turn(void* kept, void (*drop)(void*)) noexcept {
  if (nested >= kMostNested) {
    auto* const last = new (std::nothrow) Waiting{kept, drop, waiting};
    if (last != nullptr) {
      waiting = last;
      return;
    }
  }
  ++nested;
  drop(kept);
  while (nested == 1 && waiting != nullptr) {
    Waiting* const next = waiting;
    waiting = next->next;
    next->drop(next->kept);
    delete next;
  }
  --nested;
}

}  // namespace hoist::python
