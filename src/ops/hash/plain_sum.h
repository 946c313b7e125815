// The sums that are numbers rather than digests: POSIX cksum's CRC and the sums of BSD and System
// V.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::hash {

// The CRC of POSIX cksum: polynomial 0x04C11DB7, most significant bit first, over the data and then
// over its length, the complement of the remainder. The work is ISA-L's, loaded at first use so
// that other algorithms do not wait for its library.
class PosixCrc {
 public:
  // Whether ISA-L could be loaded; without it nothing else here may be called.
  static bool available();

  void update(const uint8_t* data, size_t size);
  uint32_t finish();

 private:
  uint32_t crc_ = 0;
  uint64_t length_ = 0;
};

// sum -r: 16 bits, turned right by one before each byte is added.
class BsdSum {
 public:
  void update(const uint8_t* data, size_t size);
  uint16_t finish() const { return sum_; }

 private:
  uint16_t sum_ = 0;
};

// sum -s: the sum of all bytes modulo 2^32, folded to 16 bits.
class SysvSum {
 public:
  void update(const uint8_t* data, size_t size);
  uint16_t finish() const;

 private:
  uint32_t sum_ = 0;
};

}  // namespace hoist::hash
