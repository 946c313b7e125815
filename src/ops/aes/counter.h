// The counters of CTR mode (NIST SP 800-38A, 6.5 and appendix B.1), GCM and ChaCha20.
#pragma once

#include <cstdint>
#include <cstring>

namespace hoist::aes {

// All 128 bits count, the last byte is the lowest, and the end wraps to 0.
inline void add_to_counter(uint8_t counter[16], uint64_t blocks) {
  uint64_t high;
  uint64_t low;
  std::memcpy(&high, counter, sizeof high);
  std::memcpy(&low, counter + 8, sizeof low);
  const uint64_t sum = __builtin_bswap64(low) + blocks;
  high = __builtin_bswap64(__builtin_bswap64(high) + (sum < blocks ? 1 : 0));
  low = __builtin_bswap64(sum);
  std::memcpy(counter, &high, sizeof high);
  std::memcpy(counter + 8, &low, sizeof low);
}

// GCM's inc32 (SP 800-38D, 6.2): the last four bytes count, and wrap.
inline void add_to_gcm_counter(uint8_t counter[16], uint32_t blocks) {
  uint32_t low;
  std::memcpy(&low, counter + 12, sizeof low);
  low = __builtin_bswap32(__builtin_bswap32(low) + blocks);
  std::memcpy(counter + 12, &low, sizeof low);
}

inline uint32_t low_gcm_counter(const uint8_t counter[16]) {
  uint32_t low;
  std::memcpy(&low, counter + 12, sizeof low);
  return __builtin_bswap32(low);
}

}  // namespace hoist::aes
