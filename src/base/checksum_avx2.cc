#include "base/checksum_avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hoist::checksum_detail {

uint64_t xxh3_64_avx2(const void* data, size_t size) { return XXH3_64bits(data, size); }

void xxh3_update_avx2(void* state, const void* data, size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), data, size);
}

}  // namespace hoist::checksum_detail
