// memcpy() whose stores go past the caches.
#pragma once

#include <cstddef>

namespace hoist::device {

// What is written is not fetched first, and what is in the caches, as pinned memory, stays there.
void stream_copy(std::byte* to, const std::byte* from, size_t size);

// The same where memory of `total` bytes is written in all, or memcpy() where that is so little
// that it is likely to be read while it is still in a cache.
void copy_part_of(size_t total, std::byte* to, const std::byte* from, size_t size);

}  // namespace hoist::device
