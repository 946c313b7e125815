// LEB128 integers: seven bits a byte, lowest first, the top bit set on all but the last; signed
// ones by zigzag. For headers, where most numbers are small.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace hoist {

constexpr uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1)));
}

inline void write_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// 0 where the bytes end early; the reader then is not ok(). Bits beyond 64 are dropped.
inline uint64_t read_varint(ByteReader& in) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    const auto byte = in.read<uint8_t>();
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return value;
}

}  // namespace hoist
