// Checksums of Hoist's own formats and caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist {

// XXH3, 64 bits, seed 0 (xxHash specification 0.8).
uint64_t xxh3_64(const void* data, size_t size);

}  // namespace hoist
