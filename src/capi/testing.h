/* What the tests of the C library share. */
#ifndef HOIST_CAPI_TESTING_H
#define HOIST_CAPI_TESTING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hoist/hoist.h"

static inline void check_failed(const char* condition, const char* file, int line) {
  fprintf(stderr, "%s:%d: not so: %s\n  last error: %s\n", file, line, condition,
          hoist_error_message());
  exit(1);
}
#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))
#define CHECK_OK(call) CHECK((call) == HOIST_OK)

/* Any bits, the same in each run. */
static inline uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* "FOLDER/NAME"; to be freed. */
static inline char* path_in(const char* folder, const char* name) {
  char* const path = malloc(strlen(folder) + strlen(name) + 2);
  CHECK(path != NULL);
  sprintf(path, "%s/%s", folder, name);
  return path;
}

#endif
