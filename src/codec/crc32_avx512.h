// CRC-32 by carry-less multiplication of 512-bit vectors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::codec::crc32_detail {

bool has_avx512();

// For CPUs of which has_avx512() is true.
uint32_t crc32_avx512(uint32_t crc, const void* data, size_t size);

}  // namespace hoist::codec::crc32_detail
