// Copying between memory that does not overlap, over several threads.
#pragma once

#include <cstddef>

#include "base/threads.h"

namespace hoist::memcpy {

// On the calling thread, past the caches: what is this large would only drive other things out of
// them. Written with plain SSE2 stores, whose width does not matter at the memory's speed.
void copy_alone(std::byte* to, const std::byte* from, size_t size);

// The same by all threads of the pool.
void copy(std::byte* to, const std::byte* from, size_t size, ThreadPool& pool);

// Reads a byte of each page of `from`, and writes one of each page of `to` what it holds: faults
// are taken here.
void touch(std::byte* to, const std::byte* from, size_t size);

}  // namespace hoist::memcpy
