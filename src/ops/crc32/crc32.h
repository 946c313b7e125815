/* libhoist_crc32.so: zlib's crc32() and adler32() of large buffers, by vector instructions.
 *
 *   uLong crc;
 *   if (!hoist_crc32.crc32(before, data, size, original, &crc)) crc = original(before, data, size);
 *
 * Any thread may call it, several at once, also in a child after fork(). */
#ifndef HOIST_OPS_CRC32_CRC32_H
#define HOIST_OPS_CRC32_CRC32_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* zlib's crc32_z() or adler32_z(). */
typedef uLong hoist_original_checksum(uLong, const Bytef*, z_size_t);

/* Goes on from `before` with `size` bytes of `data`, which must not be null. False: the original
 * has to do it. Under --verify `original` does it again. */
typedef bool hoist_checksum_function(uLong before, const Bytef* data, size_t size,
                                     hoist_original_checksum* original, uLong* result);

struct hoist_checksum_functions {
  hoist_checksum_function* crc32;
  hoist_checksum_function* adler32;
};

extern const struct hoist_checksum_functions hoist_crc32;

#ifdef __cplusplus
}
#endif

#endif
