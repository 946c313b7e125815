// Checksums of Hoist's own formats and caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist {

// XXH3, 64 bits, seed 0 (xxHash specification 0.8).
uint64_t xxh3_64(const void* data, size_t size);
// For tables whose keys somebody else chooses.
uint64_t xxh3_64(const void* data, size_t size, uint64_t seed);

// The same of bytes that come in pieces. An object may be used by one thread at a time.
class Xxh3 {
 public:
  Xxh3();
  void update(const void* data, size_t size);
  // The checksum of all that came so far; more may follow.
  uint64_t finish() const;

 private:
  alignas(64) unsigned char state_[576];
};

}  // namespace hoist
