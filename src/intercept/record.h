/* Writing into the counters that a process shares with its launcher (base/counters_layout.h). */
#ifndef HOIST_INTERCEPT_RECORD_H
#define HOIST_INTERCEPT_RECORD_H

#include <stdbool.h>

#include "base/counters_layout.h"

struct mapped_counters {
  struct hoist_counters* counters;
  uint64_t size;
  uint32_t program_slots;
};

/* Maps the segment at `path`, whose pages are all there; false where it is not what it should be.
 */
bool map_counters(const char* path, struct mapped_counters* mapped);
void unmap_counters(const struct mapped_counters* mapped);

/* Counts one call of `operation` that stayed with the original, in the segment at `path`; silent on
 * any failure. */
void record_passed(const char* path, const char* operation, const char* reason);

#endif
