#include "intercept/inflate_stream.h"

#include <stdlib.h>
#include <string.h>

#include "intercept/caller_scope.h"
#include "intercept/engine_library.h"
#include "intercept/inflate_notes.h"
#include "intercept/kept_environment.h"
#include "intercept/record.h"

/* Taking a stream over costs some 20 us, of which 32 KiB of input take zlib a few hundred; loading
 * the engine 0.3 ms, of which a quarter of a MiB takes it some 2. */
struct inflate_limits inflate_limits = {.stream = 32 << 10, .call = 1 << 10, .process = 256 << 10};

static const char kTag;

/* All functions are those that the first who made a stream would have got, so that one stream never
 * meets two copies of zlib. */
static const void* first_caller;

static int absent(void) { return Z_STREAM_ERROR; }

void* zlib_function(enum zlib_function function) {
  static const char* const kNames[ZLIB_FUNCTIONS] = {
      [ZLIB_VERSION_FUNCTION] = "zlibVersion",
      [ZLIB_INFLATE] = "inflate",
      [ZLIB_INIT2] = "inflateInit2_",
      [ZLIB_END] = "inflateEnd",
      [ZLIB_RESET] = "inflateReset",
      [ZLIB_RESET2] = "inflateReset2",
      [ZLIB_RESET_KEEP] = "inflateResetKeep",
      [ZLIB_COPY] = "inflateCopy",
      [ZLIB_SET_DICTIONARY] = "inflateSetDictionary",
      [ZLIB_GET_DICTIONARY] = "inflateGetDictionary",
      [ZLIB_SYNC] = "inflateSync",
      [ZLIB_SYNC_POINT] = "inflateSyncPoint",
      [ZLIB_PRIME] = "inflatePrime",
      [ZLIB_MARK] = "inflateMark",
      [ZLIB_GET_HEADER] = "inflateGetHeader",
      [ZLIB_UNDERMINE] = "inflateUndermine",
      [ZLIB_VALIDATE] = "inflateValidate",
      [ZLIB_CODES_USED] = "inflateCodesUsed",
  };
  static void* slots[ZLIB_FUNCTIONS];
  const void* caller = __atomic_load_n(&first_caller, __ATOMIC_RELAXED);
  void* found = original_for_caller(&slots[function], kNames[function], "libz.so.1", caller);
  return found != NULL ? found : (void*)absent;
}

void note_zlib_caller(const void* caller) {
  const void* expected = NULL;
  __atomic_compare_exchange_n(&first_caller, &expected, caller, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

/* The versions that our decoder was compared with. Another one may have more functions that take a
 * stream, or do something in other steps. */
bool is_known_zlib(void) {
  static const char* const kCompared[] = {"1.2.13", "1.3"};
  static int known; /* 0: not asked yet, 1: yes, 2: no */
  int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (answer == 0) {
    void* function = zlib_function(ZLIB_VERSION_FUNCTION);
    const char* version =
        function != (void*)absent ? ((__typeof__(&zlibVersion))function)() : "none";
    bool same = false;
    for (size_t i = 0; i < sizeof kCompared / sizeof *kCompared; ++i)
      same = same || strcmp(version, kCompared[i]) == 0;
    answer = same ? 1 : 2;
    __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    const char* counters = hoist_environment(HOIST_COUNTERS_ENV);
    if (!same && counters != NULL) record_passed(counters, "inflate", "unknown version of zlib");
  }
  return answer == 1;
}

static bool any_streams; /* before, what we are given may not even be a stream */

struct inflate_stream* inflate_stream_of(z_streamp strm) {
  if (!__atomic_load_n(&any_streams, __ATOMIC_RELAXED)) return NULL;
  if (strm == NULL || strm->state == NULL) return NULL;
  const void* tag;
  memcpy(&tag, (const void*)strm->state, sizeof tag);
  if (tag != &kTag) return NULL;
  struct inflate_stream* stream = (struct inflate_stream*)strm->state;
  /* A copy of a z_stream is no stream; zlib will say so. */
  return stream->owner == strm ? stream : NULL;
}

void lend_state(struct inflate_stream* stream) {
  if (stream != NULL) stream->owner->state = stream->original;
}

void take_state_back(struct inflate_stream* stream) {
  if (stream != NULL) stream->owner->state = (struct internal_state*)stream;
}

void renew_inflate_stream(struct inflate_stream* stream, int window_bits) {
  stream->window_bits = window_bits;
  stream->first_byte = -1;
  stream->input = 0;
  stream->output = 0;
  stream->has_window = false;
  stream->check = stream->owner->adler;
}

struct inflate_stream* adopted_inflate_stream(z_streamp strm) {
  struct inflate_stream* stream = inflate_stream_of(strm);
  if (stream != NULL || strm == NULL || !any_inflate_notes()) return stream;
  int window_bits;
  if (!take_inflate_note(strm->state, strm, &window_bits)) return NULL;
  if (strm->total_in != 0 || strm->total_out != 0) return NULL;
  stream = calloc(1, sizeof *stream);
  if (stream == NULL) return NULL;
  stream->tag = &kTag;
  stream->owner = strm;
  stream->original = strm->state;
  renew_inflate_stream(stream, window_bits);
  take_state_back(stream);
  __atomic_store_n(&any_streams, true, __ATOMIC_RELAXED);
  return stream;
}

static struct engine_library engine = {.operation = "inflate", .function = "hoist_inflate"};
static const struct hoist_inflate_functions* functions;

const struct hoist_inflate_functions* inflate_engine(void) {
  return __atomic_load_n(&functions, __ATOMIC_RELAXED);
}

void drop_inflater(struct inflate_stream* stream) {
  if (stream->ours != NULL) inflate_engine()->end(stream->ours);
  stream->ours = NULL;
}

static bool load_engine(void) {
  const struct hoist_inflate_functions* found = engine_function(&engine);
  if (found == NULL) return false;
  __atomic_store_n(&functions, found, __ATOMIC_RELAXED); /* the same each time */
  return true;
}

static enum hoist_inflate_format format_of(const struct inflate_stream* stream) {
  enum { kGzipOnly = 16, kEither = 32, kFirstOfGzip = 0x1f };
  if (stream->window_bits < 0) return HOIST_INFLATE_RAW;
  if (stream->window_bits < kGzipOnly) return HOIST_INFLATE_ZLIB;
  return stream->window_bits < kEither || stream->first_byte == kFirstOfGzip ? HOIST_INFLATE_GZIP
                                                                             : HOIST_INFLATE_ZLIB;
}

/* The size of the window that zlib would make, as its logarithm. */
static unsigned window_bits_of(const struct inflate_stream* stream) {
  if (stream->window_bits < 0) return (unsigned)-stream->window_bits;
  const unsigned given = (unsigned)stream->window_bits & 15;
  if (given != 0) return given;
  return format_of(stream) == HOIST_INFLATE_GZIP ? 15 : ((unsigned)stream->first_byte >> 4) + 8;
}

/* A call of the program's for a stream that zlib decodes. */
struct call {
  struct inflate_stream* stream;
  z_streamp strm;
  uInt avail_in; /* at its start */
  uInt avail_out;
};

static size_t taken(const struct call* call) { return call->avail_in - call->strm->avail_in; }
static uInt written(const struct call* call) { return call->avail_out - call->strm->avail_out; }

/* zlib's inflate(), and what we have to know of it. */
static int original_inflate(struct inflate_stream* stream, int flush) {
  z_streamp strm = stream->owner;
  const Bytef* in = strm->next_in;
  const uInt avail_in = strm->avail_in;
  const uInt avail_out = strm->avail_out;
  lend_state(stream);
  const int result = ((__typeof__(&inflate))zlib_function(ZLIB_INFLATE))(strm, flush);
  take_state_back(stream);
  if (stream->first_byte < 0 && strm->avail_in != avail_in) stream->first_byte = in[0];
  stream->input += avail_in - strm->avail_in;
  stream->output += avail_out - strm->avail_out;
  stream->check = strm->adler;
  return result;
}

/* The bits that zlib has taken and not used at a boundary between blocks: the upper ones of the
 * last byte, if that came in this call. */
static bool unused_bits(const z_stream* strm, bool any_input,
                        struct hoist_inflate_boundary* boundary) {
  enum { kCount = 63, kMost = 7, kByte = 8 };
  boundary->bit_count = (unsigned)strm->data_type & kCount;
  if (boundary->bit_count == 0) return true;
  if (boundary->bit_count > kMost || !any_input) return false;
  boundary->bits = (unsigned)strm->next_in[-1] >> (kByte - boundary->bit_count);
  return true;
}

/* Takes the stream over, which stands before a block. */
static bool take_over(const struct call* call, struct hoist_inflate_boundary* boundary) {
  struct inflate_stream* stream = call->stream;
  const struct hoist_inflate_originals originals = {
      .inflate = (__typeof__(&inflate))zlib_function(ZLIB_INFLATE),
      .inflateGetDictionary =
          (__typeof__(&inflateGetDictionary))zlib_function(ZLIB_GET_DICTIONARY)};
  boundary->window_bits = window_bits_of(stream);
  boundary->originals = &originals;
  boundary->format = format_of(stream);
  boundary->check = (uint32_t)stream->check;
  boundary->total = stream->output;
  boundary->output_in_call = written(call);
  boundary->output_before = stream->has_window;
  lend_state(stream);
  stream->ours = inflate_engine()->start(stream->owner, boundary);
  boundary->originals = NULL;
  take_state_back(stream);
  if (stream->ours == NULL) stream->pinned = "not started";
  return stream->ours != NULL;
}

/* zlib decodes up to a block's end at most; there we go on. */
static int inflate_and_take_over(const struct call* call, int flush) {
  enum { kLastBlock = 64, kAtBlock = 128, kHeaderBits = 3 };
  struct inflate_stream* stream = call->stream;
  z_streamp strm = call->strm;
  struct hoist_inflate_boundary boundary = {
      .nothing_read = format_of(stream) == HOIST_INFLATE_RAW && stream->input == 0};
  if (boundary.nothing_read && take_over(call, &boundary)) return inflate_stream_run(stream, flush);
  boundary.nothing_read = false;
  while (stream->pinned == NULL) {
    const uInt avail_in = strm->avail_in;
    const int result = original_inflate(stream, Z_BLOCK);
    const bool whole = result == Z_OK || result == Z_BUF_ERROR;
    if (!whole || (strm->data_type & kAtBlock) == 0) return result;
    if ((strm->data_type & kLastBlock) != 0) break;
    if (unused_bits(strm, strm->avail_in != avail_in, &boundary) && take_over(call, &boundary)) {
      return inflate_stream_run(stream, flush);
    }
    /* Called again, zlib would forget to say that it stands before a block. */
    if (strm->avail_in == 0 && boundary.bit_count < kHeaderBits) return result;
  }
  return original_inflate(stream, flush);
}

/* The result of a call that was made in several steps, by what all of them did. */
static int whole_result(const struct call* call, int result, int flush) {
  if (result != Z_OK && result != Z_BUF_ERROR) return result;
  if (flush == Z_FINISH) return Z_BUF_ERROR;
  return taken(call) == 0 && written(call) == 0 ? Z_BUF_ERROR : Z_OK;
}

static void tell(struct inflate_stream* stream) {
  const char* counters = hoist_environment(HOIST_COUNTERS_ENV);
  if (!stream->told && counters != NULL) record_passed(counters, "inflate", stream->pinned);
  stream->told = true;
}

static bool is_worth_it(const struct call* call, int flush) {
  struct inflate_stream* stream = call->stream;
  if (call->avail_in < inflate_limits.call || call->avail_out < inflate_limits.call ||
      stream->input + call->avail_in < inflate_limits.stream) {
    return false;
  }
  if (stream->pinned == NULL && (flush == Z_BLOCK || flush == Z_TREES)) {
    stream->pinned = "stops at blocks";
  }
  if (stream->pinned == NULL && call->strm->adler != stream->check) {
    stream->pinned = "check value overwritten";
  }
  /* zlib looks at the window's size only for matches that leave the current call's output, and we
   * may have to cut a call in two: not where that could matter. */
  if (stream->pinned == NULL && stream->input != 0 && window_bits_of(stream) < MAX_WBITS) {
    stream->pinned = "small window";
  }
  if (stream->pinned != NULL) {
    tell(stream);
    return false;
  }
  static size_t offered;
  if (__atomic_add_fetch(&offered, call->avail_in, __ATOMIC_RELAXED) < inflate_limits.process) {
    return false;
  }
  return load_engine();
}

int inflate_stream_run(struct inflate_stream* stream, int flush) {
  z_streamp strm = stream->owner;
  if (stream->ours != NULL) {
    lend_state(stream);
    const int result = inflate_engine()->inflate(&stream->ours, strm, flush);
    take_state_back(stream);
    if (stream->ours == NULL) stream->pinned = "switched off by --verify";
    return result;
  }
  const struct call call = {stream, strm, strm->avail_in, strm->avail_out};
  const int result = is_worth_it(&call, flush)
                         ? whole_result(&call, inflate_and_take_over(&call, flush), flush)
                         : original_inflate(stream, flush);
  if (written(&call) != 0) stream->has_window = true;
  return result;
}
