// CRC-32C (Castagnoli, reflected: RFC 3720) as RocksDB stores it.
#pragma once

#include <cstdint>
#include <string_view>

namespace hoist::match {

// The CRC goes on from `crc`, that of the bytes before; 0 where there are none.
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0);

// A CRC of bytes that hold CRCs is weak, so it is stored changed.
inline uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

}  // namespace hoist::match
