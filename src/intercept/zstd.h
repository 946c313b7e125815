/* What the parts that stand in for functions of libzstd share. */
#ifndef HOIST_INTERCEPT_ZSTD_H
#define HOIST_INTERCEPT_ZSTD_H

#include <stddef.h>

static const char kZstdLibrary[] = "libzstd.so.1";

/* Returned where a program calls a function that no library behind us has, having found ours by a
 * search for its name: libzstd's generic error. */
static const size_t kNoZstd = (size_t)-1;

#endif
