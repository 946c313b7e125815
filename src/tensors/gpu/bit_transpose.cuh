// Bits of eight planes into bytes of elements, in registers.
#pragma once

#include <cstdint>

namespace hoist::tensors {

// Exchanges the bits of `high` under `mask` with those of `low` that stand `kShift` above them.
template <unsigned kShift>
__device__ __forceinline__ void exchange(uint32_t& low, uint32_t& high, uint32_t mask) {
  const uint32_t moved = ((low >> kShift) ^ high) & mask;
  high ^= moved;
  low ^= moved << kShift;
}

// rows[p]: bit i is element i's bit p, 32 elements. Afterwards byte j of rows[w] is all eight bits
// of element 4 w + j: four 8 x 8 transpositions at once (Warren, Hacker's Delight, 7-3), then two
// 4 x 4 ones of bytes.
__device__ __forceinline__ void planes_to_bytes(uint32_t (&rows)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) exchange<4>(rows[i], rows[i + 4], 0x0f0f0f0f);
#pragma unroll
  for (int i = 0; i < 8; i += 4) {
    exchange<2>(rows[i], rows[i + 2], 0x33333333);
    exchange<2>(rows[i + 1], rows[i + 3], 0x33333333);
  }
#pragma unroll
  for (int i = 0; i < 8; i += 2) exchange<1>(rows[i], rows[i + 1], 0x55555555);
  // Now byte k of rows[r] is element 8 k + r.
  uint32_t sorted[8];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t* const r = rows + 4 * half;
    const uint32_t low01 = __byte_perm(r[0], r[1], 0x5140);   // 0.0 1.0 0.1 1.1
    const uint32_t high01 = __byte_perm(r[0], r[1], 0x7362);  // 0.2 1.2 0.3 1.3
    const uint32_t low23 = __byte_perm(r[2], r[3], 0x5140);
    const uint32_t high23 = __byte_perm(r[2], r[3], 0x7362);
    sorted[half] = __byte_perm(low01, low23, 0x5410);
    sorted[2 + half] = __byte_perm(low01, low23, 0x7632);
    sorted[4 + half] = __byte_perm(high01, high23, 0x5410);
    sorted[6 + half] = __byte_perm(high01, high23, 0x7632);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) rows[i] = sorted[i];
}

}  // namespace hoist::tensors
