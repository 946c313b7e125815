/* What zlib's deflate() streams were set up with, which cannot be read out of them: noted by our
 * functions that set it (deflate.c), while the operation is requested. */
#ifndef HOIST_INTERCEPT_DEFLATE_STREAMS_H
#define HOIST_INTERCEPT_DEFLATE_STREAMS_H

#include <stdbool.h>

/* A stream is known by its state, which zlib allocates at deflateInit() and frees at deflateEnd().
 */
struct deflate_stream {
  const void* state;
  signed char level;       /* as given: -1 is the default */
  signed char window_bits; /* with what they say about the format */
  signed char memory_level;
  signed char strategy;
  bool fresh;  /* since deflateInit() or deflateReset(), nothing was done that counts */
  bool header; /* a gzip header of the program's own */
};

/* Null where the stream is not known: it was set up before we looked, or there are too many. Any
 * thread may call; a record belongs to whoever may use its stream. */
struct deflate_stream* find_deflate_stream(const void* state);

/* The record for a state that may have one; null where there are too many. */
struct deflate_stream* add_deflate_stream(const void* state);

void remove_deflate_stream(const void* state);

#endif
