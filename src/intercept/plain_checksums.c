#include "intercept/plain_checksums.h"

#include <stdint.h>

/* RFC 1952, section 8, bit by bit. */
unsigned long plain_crc32(unsigned long before, const unsigned char* data, size_t size) {
  const uint32_t kPolynomial = 0xedb88320;
  if (data == NULL) return 0;
  uint32_t crc = ~(uint32_t)before;
  for (size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (kPolynomial & -(crc & 1));
  }
  return (uint32_t)~crc;
}

/* RFC 1950, section 9. */
unsigned long plain_adler32(unsigned long before, const unsigned char* data, size_t size) {
  const uint32_t kBase = 65521;
  if (data == NULL) return 1;
  uint32_t low = (before & 0xffff) % kBase;
  uint32_t high = (before >> 16 & 0xffff) % kBase;
  for (size_t i = 0; i < size; ++i) {
    low = (low + data[i]) % kBase;
    high = (high + low) % kBase;
  }
  return high << 16 | low;
}
