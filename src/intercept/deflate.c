/* zlib's compression, on request (HOIST_OPS=+deflate): large inputs that are compressed in one call
 * are offered to libhoist_deflate.so. Everything else is zlib's.
 *
 * A stream that deflate() gets whole (its first call, with Z_FINISH, and room for any result) is
 * compressed by the engine. Then zlib itself ends the stream, with no input and into a scratch
 * buffer, and we write the numbers of the real one into the z_stream: whatever the program does
 * next, zlib's state is that of a finished stream. */
#include <zlib.h>

#include "intercept/caller_scope.h"
#include "intercept/deflate_engine.h"
#include "intercept/deflate_streams.h"

enum { kScratch = 64 /* holds an empty stream of any format */ };

static const char kLibrary[] = "libz.so.1";

enum function {
  DEFLATE,
  DEFLATE_COPY,
  DEFLATE_END,
  DEFLATE_INIT,
  DEFLATE_INIT2,
  DEFLATE_PARAMS,
  DEFLATE_PRIME,
  DEFLATE_RESET,
  DEFLATE_RESET_KEEP,
  DEFLATE_SET_DICTIONARY,
  DEFLATE_SET_HEADER,
  DEFLATE_TUNE,
};

static int unavailable(void) { return Z_STREAM_ERROR; }

/* zlib's function; where no zlib is behind us, one that fails. */
static void* original(enum function function, const void* caller) {
  static struct {
    const char* name;
    void* address;
  } functions[] = {
      [DEFLATE] = {"deflate", NULL},
      [DEFLATE_COPY] = {"deflateCopy", NULL},
      [DEFLATE_END] = {"deflateEnd", NULL},
      [DEFLATE_INIT] = {"deflateInit_", NULL},
      [DEFLATE_INIT2] = {"deflateInit2_", NULL},
      [DEFLATE_PARAMS] = {"deflateParams", NULL},
      [DEFLATE_PRIME] = {"deflatePrime", NULL},
      [DEFLATE_RESET] = {"deflateReset", NULL},
      [DEFLATE_RESET_KEEP] = {"deflateResetKeep", NULL},
      [DEFLATE_SET_DICTIONARY] = {"deflateSetDictionary", NULL},
      [DEFLATE_SET_HEADER] = {"deflateSetHeader", NULL},
      [DEFLATE_TUNE] = {"deflateTune", NULL},
  };
  void* found =
      original_for_caller(&functions[function].address, functions[function].name, kLibrary, caller);
  return found != NULL ? found : (void*)unavailable;
}

/* The record of a stream, where streams are followed and this one is known. */
static struct deflate_stream* known_stream(z_streamp strm) {
  return deflate_is_requested() && strm != NULL ? find_deflate_stream(strm->state) : NULL;
}

static void note_use(z_streamp strm) {
  struct deflate_stream* stream = known_stream(strm);
  if (stream != NULL) stream->fresh = false;
}

static void note_setup(z_streamp strm, int level, int window_bits, int memory_level, int strategy) {
  struct deflate_stream* stream = add_deflate_stream(strm->state);
  if (stream == NULL) return;
  stream->level = (signed char)level;
  stream->window_bits = (signed char)window_bits;
  stream->memory_level = (signed char)memory_level;
  stream->strategy = (signed char)strategy;
  stream->header = false;
  stream->fresh = true;
}

/* Whether the stream's output is what the engine makes. */
static bool is_ordinary(const struct deflate_stream* stream) {
  const int window_bits =
      stream->window_bits < 0 ? -stream->window_bits : stream->window_bits & MAX_WBITS;
  return is_deflate_level(stream->level) && window_bits == MAX_WBITS &&
         stream->memory_level >= MAX_MEM_LEVEL - 1 &&
         (stream->strategy == Z_DEFAULT_STRATEGY || stream->strategy == Z_FILTERED) &&
         !stream->header;
}

/* Ends a fresh stream as zlib does, and makes it tell of `result`. */
static bool finish(z_streamp strm, const struct hoist_deflate_call* call,
                   const struct hoist_deflate_result* result, const void* caller) {
  const z_stream before = *strm;
  Bytef scratch[kScratch];
  strm->next_in = NULL;
  strm->avail_in = 0;
  strm->next_out = scratch;
  strm->avail_out = sizeof scratch;
  const int ended = ((__typeof__(&deflate))original(DEFLATE, caller))(strm, Z_FINISH);
  strm->next_in = before.next_in;
  strm->avail_in = before.avail_in;
  strm->next_out = before.next_out;
  strm->avail_out = before.avail_out;
  strm->total_in = before.total_in;
  strm->total_out = before.total_out;
  strm->data_type = before.data_type;
  if (ended != Z_STREAM_END) {
    /* Back to the start, where zlib does all of it. */
    ((__typeof__(&deflateReset))original(DEFLATE_RESET, caller))(strm);
    strm->data_type = before.data_type;
    return false;
  }
  strm->next_in += call->in_size;
  strm->avail_in = 0;
  strm->next_out += result->size;
  strm->avail_out -= (uInt)result->size;
  strm->total_in += call->in_size;
  strm->total_out += result->size;
  if (call->format != HOIST_DEFLATE_RAW) strm->adler = result->checksum;
  if (call->wants_data_type) strm->data_type = result->data_type;
  return true;
}

static __attribute__((noinline)) bool deflate_whole(z_streamp strm, const void* caller) {
  struct deflate_stream* stream = known_stream(strm);
  if (stream == NULL) {
    if (!deflate_is_requested()) count_unrequested_deflate();
    return false;
  }
  if (!stream->fresh || !is_ordinary(stream) || strm->next_in == NULL || strm->next_out == NULL ||
      is_declined_input(strm->next_in, strm->avail_in)) {
    return false;
  }
  const struct hoist_deflate_call call = {.in = strm->next_in,
                                          .in_size = strm->avail_in,
                                          .out = strm->next_out,
                                          .room = strm->avail_out,
                                          .level = deflate_level_number(stream->level),
                                          .format = stream->window_bits < 0 ? HOIST_DEFLATE_RAW
                                                    : stream->window_bits > MAX_WBITS
                                                        ? HOIST_DEFLATE_GZIP
                                                        : HOIST_DEFLATE_ZLIB,
                                          .wants_data_type = strm->data_type == Z_UNKNOWN};
  struct hoist_deflate_result result;
  if (!run_deflate_engine(&call, &result) || !finish(strm, &call, &result, caller)) return false;
  stream->fresh = false;
  return true;
}

__attribute__((visibility("default"))) int deflate(z_streamp strm, int flush) {
  const void* caller = __builtin_return_address(0);
  const bool large = flush == Z_FINISH && strm != NULL && strm->avail_in >= kLargeDeflateInput;
  if (large && deflate_whole(strm, caller)) return Z_STREAM_END;
  note_use(strm);
  return ((__typeof__(&deflate))original(DEFLATE, caller))(strm, flush);
}

__attribute__((visibility("default"))) int deflateInit2_(z_streamp strm, int level, int method,
                                                         int window_bits, int memory_level,
                                                         int strategy, const char* version,
                                                         int stream_size) {
  const void* caller = __builtin_return_address(0);
  __typeof__(&deflateInit2_) init = (__typeof__(&deflateInit2_))original(DEFLATE_INIT2, caller);
  const int result =
      init(strm, level, method, window_bits, memory_level, strategy, version, stream_size);
  if (result == Z_OK && deflate_is_requested()) {
    note_setup(strm, level, window_bits, memory_level, strategy);
  }
  return result;
}

__attribute__((visibility("default"))) int deflateInit_(z_streamp strm, int level,
                                                        const char* version, int stream_size) {
  const void* caller = __builtin_return_address(0);
  __typeof__(&deflateInit_) init = (__typeof__(&deflateInit_))original(DEFLATE_INIT, caller);
  const int result = init(strm, level, version, stream_size);
  if (result == Z_OK && deflate_is_requested()) {
    note_setup(strm, level, MAX_WBITS, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY);
  }
  return result;
}

__attribute__((visibility("default"))) int deflateEnd(z_streamp strm) {
  const void* caller = __builtin_return_address(0);
  if (deflate_is_requested() && strm != NULL) remove_deflate_stream(strm->state);
  return ((__typeof__(&deflateEnd))original(DEFLATE_END, caller))(strm);
}

__attribute__((visibility("default"))) int deflateReset(z_streamp strm) {
  const void* caller = __builtin_return_address(0);
  const int result = ((__typeof__(&deflateReset))original(DEFLATE_RESET, caller))(strm);
  struct deflate_stream* stream = known_stream(strm);
  if (stream != NULL) stream->fresh = result == Z_OK;
  return result;
}

__attribute__((visibility("default"))) int deflateCopy(z_streamp to, z_streamp from) {
  const void* caller = __builtin_return_address(0);
  const int result = ((__typeof__(&deflateCopy))original(DEFLATE_COPY, caller))(to, from);
  const struct deflate_stream* stream = result == Z_OK ? known_stream(from) : NULL;
  if (stream != NULL) {
    const struct deflate_stream copy = *stream;
    note_setup(to, copy.level, copy.window_bits, copy.memory_level, copy.strategy);
    struct deflate_stream* other = find_deflate_stream(to->state);
    if (other != NULL) other->fresh = copy.fresh;
    if (other != NULL) other->header = copy.header;
  }
  return result;
}

__attribute__((visibility("default"))) int deflateParams(z_streamp strm, int level, int strategy) {
  const void* caller = __builtin_return_address(0);
  const int result =
      ((__typeof__(&deflateParams))original(DEFLATE_PARAMS, caller))(strm, level, strategy);
  struct deflate_stream* stream = known_stream(strm);
  if (stream != NULL && result == Z_OK) {
    stream->level = (signed char)level;
    stream->strategy = (signed char)strategy;
  } else if (stream != NULL) {
    stream->fresh = false;
  }
  return result;
}

__attribute__((visibility("default"))) int deflateSetHeader(z_streamp strm, gz_headerp head) {
  const void* caller = __builtin_return_address(0);
  struct deflate_stream* stream = known_stream(strm);
  if (stream != NULL) stream->header = head != NULL;
  return ((__typeof__(&deflateSetHeader))original(DEFLATE_SET_HEADER, caller))(strm, head);
}

/* What follows makes a stream one that only zlib goes on with, until it is reset. */

__attribute__((visibility("default"))) int deflateResetKeep(z_streamp strm) {
  const void* caller = __builtin_return_address(0);
  note_use(strm);
  return ((__typeof__(&deflateResetKeep))original(DEFLATE_RESET_KEEP, caller))(strm);
}

__attribute__((visibility("default"))) int deflateSetDictionary(z_streamp strm, const Bytef* bytes,
                                                                uInt size) {
  const void* caller = __builtin_return_address(0);
  note_use(strm);
  return ((__typeof__(&deflateSetDictionary))original(DEFLATE_SET_DICTIONARY, caller))(strm, bytes,
                                                                                       size);
}

__attribute__((visibility("default"))) int deflatePrime(z_streamp strm, int bits, int value) {
  const void* caller = __builtin_return_address(0);
  note_use(strm);
  return ((__typeof__(&deflatePrime))original(DEFLATE_PRIME, caller))(strm, bits, value);
}

__attribute__((visibility("default"))) int deflateTune(z_streamp strm, int good_length,
                                                       int max_lazy, int nice_length,
                                                       int max_chain) {
  const void* caller = __builtin_return_address(0);
  note_use(strm);
  return ((__typeof__(&deflateTune))original(DEFLATE_TUNE, caller))(strm, good_length, max_lazy,
                                                                    nice_length, max_chain);
}
