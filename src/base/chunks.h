// Loops of many short steps over the threads of a pool.
#pragma once

#include <algorithm>
#include <cstddef>

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

}  // namespace hoist
