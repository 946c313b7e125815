/* zlib's uncompress() and uncompress2() of a zlib that binds its own calls (jump.h): large streams
 * go through our inflate(). What does not end well is done again by zlib, which judges. */
#include <limits.h>
#include <stdint.h>

#include "intercept/inflate.h"
#include "intercept/inflate_stream.h"
#include "intercept/jump.h"

static bool overlap(const Bytef* a, uLong a_size, const Bytef* b, uLong b_size) {
  return (uintptr_t)a - (uintptr_t)b < b_size || (uintptr_t)b - (uintptr_t)a < a_size;
}

/* Whether it is done, and the sizes are what zlib would tell. */
static bool uncompress_whole(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong* size,
                             const void* caller) {
  if (dest == NULL || dest_size == NULL || source == NULL || size == NULL ||
      *size < inflate_limits.stream || *size > UINT_MAX || *dest_size > UINT_MAX ||
      overlap(dest, *dest_size, source, *size)) {
    return false;
  }
  z_stream s = {.next_in = (Bytef*)source,
                .avail_in = (uInt)*size,
                .next_out = dest,
                .avail_out = (uInt)*dest_size};
  if (own_inflate_init(&s, caller) != Z_OK) return false;
  const bool done = own_inflate(&s, Z_FINISH) == Z_STREAM_END;
  const uLong written = s.total_out;
  const uLong taken = s.total_in;
  own_inflate_end(&s);
  if (!done) return false;
  *dest_size = written;
  *size = taken;
  return true;
}

static int uncompress2_of_zlib(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong* size);
static int uncompress_of_zlib(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong size);

static struct jump uncompress2_jump = {
    .name = "uncompress2", .within = "inflate", .ours = (void*)uncompress2_of_zlib};
static struct jump uncompress_jump = {
    .name = "uncompress", .within = "inflate", .ours = (void*)uncompress_of_zlib};

static int uncompress2_of_zlib(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong* size) {
  const void* caller = __builtin_return_address(0);
  if (uncompress_whole(dest, dest_size, source, size, caller)) return Z_OK;
  return ((__typeof__(&uncompress2))jump_original(&uncompress2_jump, caller))(dest, dest_size,
                                                                              source, size);
}

static int uncompress_of_zlib(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong size) {
  const void* caller = __builtin_return_address(0);
  uLong used = size;
  if (uncompress_whole(dest, dest_size, source, &used, caller)) return Z_OK;
  return ((__typeof__(&uncompress))jump_original(&uncompress_jump, caller))(dest, dest_size, source,
                                                                            size);
}

EXPORT_JUMP(uncompress, &uncompress_jump);
EXPORT_JUMP(uncompress2, &uncompress2_jump);
