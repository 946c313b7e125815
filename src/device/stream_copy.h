// memcpy() whose stores go past the caches, where that pays.
#pragma once

#include <cstddef>

namespace hoist::device {

// Copies a part of what is `total` bytes in all. From 8 MiB on the destination is not fetched
// first, and what is in the caches, as pinned memory, stays there; less is likely to be read while
// it is still in a cache.
void stream_copy_if_large(size_t total, std::byte* to, const std::byte* from, size_t size);

}  // namespace hoist::device
