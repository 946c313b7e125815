// One call of qsort_r(), and its comparator.
#pragma once

#include <cstddef>

#include "ops/qsort/qsort.h"

namespace hoist::qsort {

struct Call {
  std::byte* base;
  size_t count;
  size_t size;
  hoist_compare* compare;
  void* context;

  std::byte* at(size_t index) const { return base + index * size; }
  // Runs the program's own code: on the calling thread, with the array holding a permutation.
  int ask(size_t a, size_t b) const { return compare(at(a), at(b), context); }
};

}  // namespace hoist::qsort
