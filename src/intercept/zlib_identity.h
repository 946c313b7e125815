/* Whether a function of one of zlib's names is zlib's: other libraries have some, too. */
#ifndef HOIST_INTERCEPT_ZLIB_IDENTITY_H
#define HOIST_INTERCEPT_ZLIB_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/* The last function of a name of which the answer was yes, the last of which it was no, and what
 * tells the objects that held them: others may be loaded to their places. Zeros at first. */
struct zlib_identity {
  const void* zlibs;
  const void* foreign;
  uintptr_t zlibs_object;
  uintptr_t foreign_object;
};

/* Whether the object that holds `function` is a zlib. Any thread may call. */
bool is_zlibs(const void* function, struct zlib_identity* identity);

/* Whether it is a zlib that calls its own `name` directly, so that we are not asked for it; any
 * zlib where `name` is null. */
bool is_self_bound_zlibs(const void* function, const char* name, struct zlib_identity* identity);

#endif
