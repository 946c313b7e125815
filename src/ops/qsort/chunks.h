// Loops over an array, cut into chunks for the threads. A pool is null where the calling thread is
// to do all.
#pragma once

#include <cstddef>

#include "base/threads.h"

namespace hoist::qsort {

// Calls body(chunk, start, end) for `chunks` parts of [0, count).
template <typename Body>
void for_chunks(size_t count, size_t chunks, ThreadPool* pool, Body&& body) {
  const auto start_of = [=](size_t chunk) {
    return count / chunks * chunk + (count % chunks) * chunk / chunks;
  };
  const auto run = [&](size_t chunk) { body(chunk, start_of(chunk), start_of(chunk + 1)); };
  if (pool != nullptr) {
    pool->parallel_for(chunks, run);
  } else {
    for (size_t chunk = 0; chunk < chunks; ++chunk) run(chunk);
  }
}

inline size_t chunks_for(const ThreadPool* pool) {
  constexpr size_t kChunksPerThread = 8;
  return pool != nullptr ? static_cast<size_t>(pool->size()) * kChunksPerThread : 1;
}

}  // namespace hoist::qsort
