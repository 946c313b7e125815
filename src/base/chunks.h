// Loops of many short steps over the threads of a pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/threads.h"

namespace hoist {

// Calls body(begin, end) for ranges of at most `per_task` that cover [0, count), as
// ThreadPool::parallel_for() does.
template <typename Body>
void parallel_for_chunks(ThreadPool& pool, size_t count, size_t per_task, const Body& body) {
  pool.parallel_for((count + per_task - 1) / per_task, [&](size_t task) {
    body(task * per_task, std::min(count, (task + 1) * per_task));
  });
}

// Those i of [0, count) for which is_wanted(i) holds, in ascending order; it is asked once for
// each.
template <typename Wanted>
std::vector<uint32_t> parallel_select(ThreadPool& pool, uint32_t count, size_t per_task,
                                      const Wanted& is_wanted) {
  std::vector<std::vector<uint32_t>> pieces((count + per_task - 1) / per_task);
  parallel_for_chunks(pool, count, per_task, [&](size_t begin, size_t end) {
    std::vector<uint32_t>& piece = pieces[begin / per_task];
    for (size_t i = begin; i < end; ++i) {
      if (is_wanted(i)) piece.push_back(static_cast<uint32_t>(i));
    }
  });
  size_t size = 0;
  for (const std::vector<uint32_t>& piece : pieces) size += piece.size();
  std::vector<uint32_t> selected;
  selected.reserve(size);
  for (const std::vector<uint32_t>& piece : pieces) {
    selected.insert(selected.end(), piece.begin(), piece.end());
  }
  return selected;
}

}  // namespace hoist
