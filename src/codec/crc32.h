// CRC-32 and Adler-32 as zlib, gzip and PNG have them (RFC 1952, 8; RFC 1950, 9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hoist::codec {

// Goes on from `crc`, which is 0 at first, with `size` bytes. Any thread.
uint32_t crc32(uint32_t crc, const void* data, size_t size);

// Likewise; 1 at first. Both halves of `adler` must be below 65521, as all its results are.
uint32_t adler32(uint32_t adler, const void* data, size_t size);

// The implementations of crc32() that this CPU can run, the best last.
struct Crc32Kernel {
  const char* name;
  uint32_t (*run)(uint32_t crc, const void* data, size_t size);
};
std::span<const Crc32Kernel> crc32_kernels();

}  // namespace hoist::codec
