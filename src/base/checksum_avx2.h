// XXH3 compiled for AVX2. The library takes what its compiler was allowed to use, and distributions
// compile it for the oldest processors, on which it is several times slower. For base/checksum.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::checksum_detail {

uint64_t xxh3_64_avx2(const void* data, size_t size);
// `state` is the library's XXH3_state_t.
void xxh3_update_avx2(void* state, const void* data, size_t size);

}  // namespace hoist::checksum_detail
