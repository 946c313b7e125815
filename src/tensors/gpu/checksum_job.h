// What the host tells the kernels that check XXH3-64 sums (checksum.cu). Every pointer is the
// device's.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hoist::tensors {

inline constexpr uint32_t kXxh3Block = 1024;      // bytes between two scrambles of the state
inline constexpr uint32_t kXxh3BlocksOfCta = 64;  // such blocks that a block of threads sums up

struct ChecksumJob {
  const uint8_t* data;
  uint64_t size;
  uint64_t expected;
  uint64_t* sums;        // scratch: 8 for each of xxh3_blocks(size)
  uint32_t* mismatch;    // becomes 1 where the sum is another
  uint32_t first_block;  // blocks of threads before this job's
};

// Whole blocks that are followed by another byte at least.
HOIST_HD constexpr uint64_t xxh3_blocks(uint64_t size) {
  return size == 0 ? 0 : (size - 1) / kXxh3Block;
}

HOIST_HD constexpr uint32_t checksum_ctas(uint64_t size) {
  return static_cast<uint32_t>((xxh3_blocks(size) + kXxh3BlocksOfCta - 1) / kXxh3BlocksOfCta);
}

}  // namespace hoist::tensors
