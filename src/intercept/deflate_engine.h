/* The engine of compressed streams, for the functions of zlib that compress in one call. */
#ifndef HOIST_INTERCEPT_DEFLATE_ENGINE_H
#define HOIST_INTERCEPT_DEFLATE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "ops/deflate/deflate.h"

enum {
  /* Bytes of input from which on the engine is ahead: zlib takes a millisecond at level 1. */
  kLargeDeflateInput = 64 << 10,
};

/* Whether deflate is asked for (HOIST_OPS). */
bool deflate_is_requested(void);

/* -1 and 1 to 9: what the engine has, and as a number of its own. */
bool is_deflate_level(int level);
int deflate_level_number(int level);

/* False: zlib has to do it. */
bool run_deflate_engine(const struct hoist_deflate_call* call, struct hoist_deflate_result* result);

/* Counts, once, that nobody asked. */
void count_unrequested_deflate(void);

/* compress() may go on in deflate(), which comes by here as well: what the engine has not done is
 * not to be asked again. Notes an input for this thread until another is noted; null: none. */
void note_declined_input(const void* in, size_t size);
bool is_declined_input(const void* in, size_t size);

#endif
