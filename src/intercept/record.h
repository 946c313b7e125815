/* Writing into the counters that a process shares with its launcher (base/counters_layout.h). */
#ifndef HOIST_INTERCEPT_RECORD_H
#define HOIST_INTERCEPT_RECORD_H

#include "base/counters_layout.h"

/* Maps the segment at `path`, to be given back by munmap(); null where it is not what it should be.
 */
struct hoist_counters* map_counters(const char* path);

/* Counts one call of `operation` that stayed with the original, in the segment at `path`; silent on
 * any failure. */
void record_passed(const char* path, const char* operation, const char* reason);

#endif
