// Who may sort a large number of entries by their codes in place of this engine's own threads.
#pragma once

#include <span>

#include "ops/sort/vector_sort.h"

namespace hoist::sort {

enum class EntriesAre {
  sorted,
  as_they_were,
  lost,  // undefined
};

class CodeSorter {
 public:
  virtual ~CodeSorter() = default;

  // Whether so many entries are worth it.
  virtual bool wants(size_t count) const = 0;
  // Sorts by code (hi); entries with equal codes, which come in the order of their references, keep
  // it.
  virtual EntriesAre sort(std::span<Entry> entries) = 0;
};

}  // namespace hoist::sort
