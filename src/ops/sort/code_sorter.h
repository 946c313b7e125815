// Who may sort a large number of entries by their codes in place of this engine's own threads.
#pragma once

#include <span>

#include "ops/sort/vector_sort.h"

namespace hoist::sort {

class CodeSorter {
 public:
  virtual ~CodeSorter() = default;

  // Whether so many entries are worth it.
  virtual bool wants(size_t count) const = 0;
  // Copies `from` to `to`, sorted by code (hi); entries with equal codes, which come in the order
  // of their references, keep it. False where that could not be done: `from` is as it was, and `to`
  // undefined.
  virtual bool sort(std::span<const Entry> from, std::span<Entry> to) = 0;
};

}  // namespace hoist::sort
