/* zlib's compress() and compress2(), on request (HOIST_OPS=+deflate): calls of deflate() that
 * nobody asks what kind of data it found. */
#include <zlib.h>

#include "intercept/deflate_engine.h"
#include "intercept/jump.h"

/* Whether it is done. zlib's wrapper, its level's bits included, is deflate()'s of such a stream.
 */
static bool compress_whole(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong size,
                           int level) {
  if (size < kLargeDeflateInput || source == NULL || dest == NULL || dest_size == NULL ||
      !is_deflate_level(level) || is_declined_input(source, size)) {
    return false;
  }
  const struct hoist_deflate_call call = {.in = source,
                                          .in_size = size,
                                          .out = dest,
                                          .room = *dest_size,
                                          .level = deflate_level_number(level),
                                          .format = HOIST_DEFLATE_ZLIB};
  struct hoist_deflate_result result;
  if (!run_deflate_engine(&call, &result)) {
    note_declined_input(source, size);
    return false;
  }
  *dest_size = result.size;
  return true;
}

static int compress2_of_zlib(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong size,
                             int level);
static int compress_of_zlib(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong size);

static struct jump compress2_jump = {.name = "compress2", .ours = (void*)compress2_of_zlib};
static struct jump compress_jump = {.name = "compress", .ours = (void*)compress_of_zlib};

static int compress2_of_zlib(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong size,
                             int level) {
  const void* caller = __builtin_return_address(0);
  if (compress_whole(dest, dest_size, source, size, level)) return Z_OK;
  const int result = ((__typeof__(&compress2))jump_original(&compress2_jump, caller))(
      dest, dest_size, source, size, level);
  note_declined_input(NULL, 0);
  return result;
}

static int compress_of_zlib(Bytef* dest, uLongf* dest_size, const Bytef* source, uLong size) {
  const void* caller = __builtin_return_address(0);
  if (compress_whole(dest, dest_size, source, size, Z_DEFAULT_COMPRESSION)) return Z_OK;
  const int result =
      ((__typeof__(&compress))jump_original(&compress_jump, caller))(dest, dest_size, source, size);
  note_declined_input(NULL, 0);
  return result;
}

EXPORT_JUMP(compress, &compress_jump);
EXPORT_JUMP(compress2, &compress2_jump);
