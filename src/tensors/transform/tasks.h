// Loops over a pool that may be absent.
#pragma once

#include <cstddef>
#include <functional>

#include "base/threads.h"

namespace hoist::tensors {

inline void run_tasks(ThreadPool* pool, size_t count, const std::function<void(size_t)>& task) {
  if (pool != nullptr) {
    pool->parallel_for(count, task);
  } else {
    for (size_t i = 0; i < count; ++i) task(i);
  }
}

}  // namespace hoist::tensors
