/* libhoist_deflate.so: compresses a whole input at once, as zlib's deflate() would in one call,
 * with libdeflate and over several cores. The content is the same, the bytes are not: only for who
 * asked.
 *
 *   struct hoist_deflate_result result;
 *   if (!hoist_deflate(&call, &result)) … zlib's deflate() …
 *
 * Input of half a mebibyte or more is cut into chunks that are compressed at the same time, each
 * without looking back into the one before; as in pigz (https://zlib.net/pigz/) an empty stored
 * block brings a chunk's end to a byte's border. libdeflate at the level of zlib's number is
 * smaller by as much or more than the cuts cost (docs/reference/zlib.md has the figures).
 *
 * Any thread may call, several at once, also in a child after fork(); not in a signal handler and
 * not in a vfork() child. errno is kept, signals are held back meanwhile, no thread of ours is left
 * after the call, and no fault is taken on one of them (base/caller_memory.h). */
#ifndef HOIST_OPS_DEFLATE_DEFLATE_H
#define HOIST_OPS_DEFLATE_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hoist_deflate_format { HOIST_DEFLATE_RAW, HOIST_DEFLATE_ZLIB, HOIST_DEFLATE_GZIP };

struct hoist_deflate_call {
  const void* in;
  size_t in_size;
  void* out;
  size_t room;
  int level; /* 1 to 9 */
  enum hoist_deflate_format format;
  bool wants_data_type;
};

struct hoist_deflate_result {
  size_t size;
  uint32_t checksum; /* of the input: CRC-32 for gzip, Adler-32 for zlib, 0 for raw data */
  int data_type;     /* Z_TEXT or Z_BINARY as zlib finds it, where that was wanted */
};

/* Bytes that zlib says are enough (compressBound()), for any input of this size: calls with less
 * room are left alone, and no result is larger. */
static inline uint64_t hoist_deflate_bound(uint64_t in_size, enum hoist_deflate_format format) {
  const uint64_t kWrap[] = {0, 6, 18}; /* header and trailer */
  return in_size + (in_size >> 12) + (in_size >> 14) + (in_size >> 25) + 7 + kWrap[format];
}

/* Whether it is done. False: `out` holds anything. */
typedef bool hoist_deflate_function(const struct hoist_deflate_call* call,
                                    struct hoist_deflate_result* result);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
hoist_deflate_function hoist_deflate;

#ifdef __cplusplus
}
#endif

#endif
