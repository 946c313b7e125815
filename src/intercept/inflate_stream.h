/* Streams of zlib's inflate() that we may take over.
 *
 * zlib makes and keeps a state of its own for every stream. From the first use through us on, where
 * it may be taken over later, a small object of ours stands in z_stream.state, with zlib's state
 * behind it:
 *
 *   z_stream.state ──▶ inflate_stream ──original──▶ zlib's state
 *                            └──ours──▶ our decoder, once the stream is taken over
 *
 * zlib's own functions get to see only zlib's state: it is put back for the time of a call. All
 * functions that take a stream are interposed, so that none meets the other's state. What gets past
 * us all the same (another copy of zlib in the process) is refused, as zlib refuses any state that
 * does not begin with the stream's own address. */
#ifndef HOIST_INTERCEPT_INFLATE_STREAM_H
#define HOIST_INTERCEPT_INFLATE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/inflate/inflate.h"

struct inflate_stream {
  const void* tag; /* where zlib's state has the stream's address */
  z_streamp owner;
  struct internal_state* original;
  struct hoist_inflater* ours; /* null: zlib decodes */
  int window_bits;             /* as given to inflateInit2() or inflateReset2() */
  const char* pinned;          /* why the stream stays zlib's; null: no reason */
  bool told;                   /* that reason is counted */
  /* Since the last reset, of what zlib decoded: */
  int first_byte; /* of the input; -1: none yet */
  size_t input;   /* bytes taken */
  uint32_t output;
  bool has_window; /* zlib keeps a window: something was written, or a dictionary set */
  uLong check;     /* strm->adler, which programs may overwrite without zlib noticing */
};

/* Bytes from which on taking a stream over pays; tests lower them. */
struct inflate_limits {
  size_t stream;  /* of input, what is left of this call included */
  size_t call;    /* of input in this call, and of room for output */
  size_t process; /* of input offered in such calls before the engine is loaded */
};
extern struct inflate_limits inflate_limits;

/* Functions of zlib, called by us. */
enum zlib_function {
  ZLIB_VERSION_FUNCTION,
  ZLIB_INFLATE,
  ZLIB_INIT2,
  ZLIB_END,
  ZLIB_RESET,
  ZLIB_RESET2,
  ZLIB_RESET_KEEP,
  ZLIB_COPY,
  ZLIB_SET_DICTIONARY,
  ZLIB_GET_DICTIONARY,
  ZLIB_SYNC,
  ZLIB_SYNC_POINT,
  ZLIB_PRIME,
  ZLIB_MARK,
  ZLIB_GET_HEADER,
  ZLIB_UNDERMINE,
  ZLIB_VALIDATE,
  ZLIB_CODES_USED,
  ZLIB_FUNCTIONS
};

/* `caller` is a return address in a program that makes a stream: where it has zlib from, unless the
 * global search order leads to one. Only the first one counts. */
void note_zlib_caller(const void* caller);

/* Never null: where the program has no zlib at all, something that reports an error. */
void* zlib_function(enum zlib_function function);

/* Whether the program's zlib is one that our decoder was compared with. */
bool is_known_zlib(void);

/* Ours, or null: the stream is zlib's alone, or nobody's. */
struct inflate_stream* inflate_stream_of(z_streamp strm);

/* The same, for functions that the program calls itself: a stream that was set up through us
 * (intercept/inflate_notes.h) and that zlib has not read from gets an object of ours. */
struct inflate_stream* adopted_inflate_stream(z_streamp strm);

/* After a reset of zlib's state. */
void renew_inflate_stream(struct inflate_stream* stream, int window_bits);
/* zlib decodes from here on; its state must be where ours was, or about to be reset. */
void drop_inflater(struct inflate_stream* stream);

/* Between these zlib's functions may be called. They do nothing for a null stream. */
void lend_state(struct inflate_stream* stream);
void take_state_back(struct inflate_stream* stream);

/* inflate() of a stream of ours. */
int inflate_stream_run(struct inflate_stream* stream, int flush);

/* The engine of taken streams: there is one. */
const struct hoist_inflate_functions* inflate_engine(void);

#endif
