/* zlib's checksums without zlib: for programs that refer to them weakly and have no zlib, to which
 * our functions make it seem that they have one. */
#ifndef HOIST_INTERCEPT_PLAIN_CHECKSUMS_H
#define HOIST_INTERCEPT_PLAIN_CHECKSUMS_H

#include <stddef.h>

/* crc32_z() and adler32_z(), null data included. */
unsigned long plain_crc32(unsigned long before, const unsigned char* data, size_t size);
unsigned long plain_adler32(unsigned long before, const unsigned char* data, size_t size);

#endif
