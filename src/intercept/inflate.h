/* Our functions of a zlib stream, by names that nobody else has. */
#ifndef HOIST_INTERCEPT_INFLATE_H
#define HOIST_INTERCEPT_INFLATE_H

#include "ops/inflate/inflate.h"

/* `caller` as of note_zlib_caller(). */
int own_inflate_init(z_streamp strm, const void* caller);
int own_inflate(z_streamp strm, int flush);
int own_inflate_end(z_streamp strm);

#endif
