#include "base/checksum.h"

#include <xxhash.h>

namespace hoist {

uint64_t xxh3_64(const void* data, size_t size) { return XXH3_64bits(data, size); }

}  // namespace hoist
