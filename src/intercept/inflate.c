/* zlib's inflate() and the functions around it. Streams that turn out to be large go on in
 * libhoist_inflate.so (intercept/inflate_stream.h). Every function here also serves streams that
 * are zlib's alone. */
#include "intercept/inflate.h"

#include <stdlib.h>

#include "intercept/inflate_notes.h"
#include "intercept/inflate_stream.h"

typedef int stream_function(z_streamp);

/* Calls a function of zlib's that takes nothing but a stream, with zlib's state in it. */
static int call_zlib(enum zlib_function function, z_streamp strm) {
  stream_function* call = (stream_function*)zlib_function(function);
  struct inflate_stream* stream = inflate_stream_of(strm);
  lend_state(stream);
  const int result = call(strm);
  take_state_back(stream);
  return result;
}

static int init(z_streamp strm, int window_bits, const char* version, int stream_size,
                const void* caller) {
  note_zlib_caller(caller);
  __typeof__(&inflateInit2_) original = (__typeof__(&inflateInit2_))zlib_function(ZLIB_INIT2);
  const int result = original(strm, window_bits, version, stream_size);
  if (result == Z_OK && is_known_zlib()) note_inflate_state(strm->state, strm, window_bits);
  return result;
}

__attribute__((visibility("default"))) int inflateInit2_(z_streamp strm, int window_bits,
                                                         const char* version, int stream_size) {
  return init(strm, window_bits, version, stream_size, __builtin_return_address(0));
}

__attribute__((visibility("default"))) int inflateInit_(z_streamp strm, const char* version,
                                                        int stream_size) {
  return init(strm, MAX_WBITS, version, stream_size, __builtin_return_address(0));
}

int own_inflate_init(z_streamp strm, const void* caller) {
  return init(strm, MAX_WBITS, ZLIB_VERSION, sizeof *strm, caller);
}

int own_inflate(z_streamp strm, int flush) {
  struct inflate_stream* stream = adopted_inflate_stream(strm);
  if (stream != NULL) return inflate_stream_run(stream, flush);
  return ((__typeof__(&inflate))zlib_function(ZLIB_INFLATE))(strm, flush);
}

__attribute__((visibility("default"))) int inflate(z_streamp strm, int flush) {
  return own_inflate(strm, flush);
}

int own_inflate_end(z_streamp strm) {
  stream_function* end = (stream_function*)zlib_function(ZLIB_END);
  struct inflate_stream* stream = inflate_stream_of(strm);
  if (stream == NULL) {
    int window_bits;
    if (strm != NULL && any_inflate_notes())
      (void)take_inflate_note(strm->state, strm, &window_bits);
    return end(strm);
  }
  lend_state(stream);
  const int result = end(strm);
  if (result == Z_OK) {
    drop_inflater(stream);
    free(stream);
  } else {
    take_state_back(stream);
  }
  return result;
}

__attribute__((visibility("default"))) int inflateEnd(z_streamp strm) {
  return own_inflate_end(strm);
}

static int reset(enum zlib_function function, z_streamp strm) {
  const int result = call_zlib(function, strm);
  struct inflate_stream* stream = inflate_stream_of(strm);
  if (stream != NULL && result == Z_OK) {
    drop_inflater(stream);
    /* zlib keeps the size that it may have read in a header. */
    const bool from_header = (stream->window_bits & MAX_WBITS) == 0 && stream->first_byte >= 0;
    if (from_header) stream->pinned = "window size of an earlier header";
    renew_inflate_stream(stream, stream->window_bits);
  }
  return result;
}

__attribute__((visibility("default"))) int inflateReset(z_streamp strm) {
  return reset(ZLIB_RESET, strm);
}

__attribute__((visibility("default"))) int inflateResetKeep(z_streamp strm) {
  return reset(ZLIB_RESET_KEEP, strm);
}

__attribute__((visibility("default"))) int inflateReset2(z_streamp strm, int window_bits) {
  __typeof__(&inflateReset2) reset2 = (__typeof__(&inflateReset2))zlib_function(ZLIB_RESET2);
  struct inflate_stream* stream = inflate_stream_of(strm);
  lend_state(stream);
  const int result = reset2(strm, window_bits);
  take_state_back(stream);
  if (stream == NULL && result == Z_OK && any_inflate_notes())
    renote_inflate_state(strm->state, strm, window_bits);
  if (stream != NULL && result == Z_OK) {
    drop_inflater(stream);
    stream->pinned = NULL;
    stream->told = false;
    renew_inflate_stream(stream, window_bits);
  }
  return result;
}

/* `dest` has just become a copy with a copy of zlib's state. Whether we have one of ours, too. */
static bool copy_stream(z_streamp dest, const struct inflate_stream* stream) {
  struct inflate_stream* copy = malloc(sizeof *copy);
  if (copy == NULL) return stream->ours == NULL; /* else zlib's state is not where ours is */
  *copy = *stream;
  copy->owner = dest;
  copy->original = dest->state;
  if (stream->ours != NULL) {
    copy->ours = inflate_engine()->copy(stream->ours);
    if (copy->ours == NULL) {
      free(copy);
      return false;
    }
  }
  take_state_back(copy);
  return true;
}

__attribute__((visibility("default"))) int inflateCopy(z_streamp dest, z_streamp source) {
  __typeof__(&inflateCopy) copy = (__typeof__(&inflateCopy))zlib_function(ZLIB_COPY);
  struct inflate_stream* stream = adopted_inflate_stream(source);
  if (stream == NULL) return copy(dest, source);
  lend_state(stream);
  const int result = copy(dest, source);
  take_state_back(stream);
  if (result != Z_OK || copy_stream(dest, stream)) return result;
  ((stream_function*)zlib_function(ZLIB_END))(dest);
  return Z_MEM_ERROR;
}

__attribute__((visibility("default"))) int inflateSetDictionary(z_streamp strm,
                                                                const Bytef* dictionary,
                                                                uInt size) {
  __typeof__(&inflateSetDictionary) set =
      (__typeof__(&inflateSetDictionary))zlib_function(ZLIB_SET_DICTIONARY);
  struct inflate_stream* stream = adopted_inflate_stream(strm);
  lend_state(stream);
  const int result = set(strm, dictionary, size);
  take_state_back(stream);
  if (stream == NULL || result != Z_OK) return result;
  stream->has_window = true;
  return stream->ours == NULL ? result
                              : inflate_engine()->set_dictionary(stream->ours, dictionary, size);
}

__attribute__((visibility("default"))) int inflateGetDictionary(z_streamp strm, Bytef* dictionary,
                                                                uInt* size) {
  __typeof__(&inflateGetDictionary) get =
      (__typeof__(&inflateGetDictionary))zlib_function(ZLIB_GET_DICTIONARY);
  struct inflate_stream* stream = inflate_stream_of(strm);
  if (stream != NULL && stream->ours != NULL) {
    return inflate_engine()->get_dictionary(stream->ours, dictionary, size);
  }
  lend_state(stream);
  const int result = get(strm, dictionary, size);
  take_state_back(stream);
  return result;
}

static int prime(z_streamp strm, int bits, int value) {
  return ((__typeof__(&inflatePrime))zlib_function(ZLIB_PRIME))(strm, bits, value);
}

__attribute__((visibility("default"))) int inflatePrime(z_streamp strm, int bits, int value) {
  struct inflate_stream* stream = adopted_inflate_stream(strm);
  if (stream == NULL) return prime(strm, bits, value);
  lend_state(stream);
  int result = prime(strm, bits, value);
  take_state_back(stream);
  if (stream->ours != NULL) {
    result = inflate_engine()->prime(stream->ours, bits, value);
  } else {
    stream->pinned = "primed with bits";
  }
  return result;
}

/* Gives zlib's state the bits that we have taken from the input and not used. */
static void hand_bits_back(const struct inflate_stream* stream) {
  enum { kMost = 16 }; /* of one call */
  unsigned count;
  uint32_t bits = inflate_engine()->unused_bits(stream->ours, &count);
  prime(stream->owner, -1, 0);
  while (count > 0) {
    const unsigned some = count < kMost ? count : kMost;
    prime(stream->owner, (int)some, (int)(bits & ((1u << some) - 1)));
    bits >>= some;
    count -= some;
  }
}

__attribute__((visibility("default"))) int inflateSync(z_streamp strm) {
  stream_function* sync = (stream_function*)zlib_function(ZLIB_SYNC);
  struct inflate_stream* stream = adopted_inflate_stream(strm);
  if (stream == NULL) return sync(strm);
  lend_state(stream);
  if (stream->ours != NULL) hand_bits_back(stream);
  const int result = sync(strm);
  take_state_back(stream);
  /* It forgets all that was decoded, unless it had nothing to search in. */
  if (result == Z_OK || result == Z_DATA_ERROR) {
    drop_inflater(stream);
    stream->pinned = "synchronised anew";
  }
  return result;
}

__attribute__((visibility("default"))) int inflateSyncPoint(z_streamp strm) {
  struct inflate_stream* stream = inflate_stream_of(strm);
  return stream != NULL && stream->ours != NULL ? inflate_engine()->sync_point(stream->ours)
                                                : call_zlib(ZLIB_SYNC_POINT, strm);
}

__attribute__((visibility("default"))) long inflateMark(z_streamp strm) {
  __typeof__(&inflateMark) mark = (__typeof__(&inflateMark))zlib_function(ZLIB_MARK);
  struct inflate_stream* stream = inflate_stream_of(strm);
  if (stream != NULL && stream->ours != NULL) return inflate_engine()->mark(stream->ours);
  lend_state(stream);
  const long result = mark(strm);
  take_state_back(stream);
  return result;
}

__attribute__((visibility("default"))) int inflateGetHeader(z_streamp strm, gz_headerp header) {
  __typeof__(&inflateGetHeader) get = (__typeof__(&inflateGetHeader))zlib_function(ZLIB_GET_HEADER);
  struct inflate_stream* stream = inflate_stream_of(strm);
  lend_state(stream);
  const int result = get(strm, header);
  take_state_back(stream);
  return result;
}

__attribute__((visibility("default"))) int inflateUndermine(z_streamp strm, int subvert) {
  __typeof__(&inflateUndermine) undermine =
      (__typeof__(&inflateUndermine))zlib_function(ZLIB_UNDERMINE);
  struct inflate_stream* stream = inflate_stream_of(strm);
  lend_state(stream);
  const int result = undermine(strm, subvert);
  take_state_back(stream);
  return result;
}

__attribute__((visibility("default"))) int inflateValidate(z_streamp strm, int check) {
  __typeof__(&inflateValidate) validate =
      (__typeof__(&inflateValidate))zlib_function(ZLIB_VALIDATE);
  struct inflate_stream* stream = adopted_inflate_stream(strm);
  lend_state(stream);
  const int result = validate(strm, check);
  take_state_back(stream);
  if (stream != NULL && result == Z_OK) {
    if (stream->ours != NULL) inflate_engine()->validate(stream->ours, check);
    stream->pinned = "check values switched";
  }
  return result;
}

__attribute__((visibility("default"))) unsigned long inflateCodesUsed(z_streamp strm) {
  __typeof__(&inflateCodesUsed) used =
      (__typeof__(&inflateCodesUsed))zlib_function(ZLIB_CODES_USED);
  struct inflate_stream* stream = inflate_stream_of(strm);
  lend_state(stream);
  const unsigned long result = used(strm);
  take_state_back(stream);
  return result;
}
