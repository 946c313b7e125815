/* Timings of real runs on the disk (record.h), as far as C code needs to know: `timings` beside the
 * profile holds records of one size. */
#ifndef HOIST_PLACEMENT_TIMINGS_FILE_H
#define HOIST_PLACEMENT_TIMINGS_FILE_H

#define HOIST_TIMINGS_NAME "timings"

enum {
  HOIST_TIMING_BYTES = 128,        /* of one record */
  HOIST_TIMINGS_WORTH_FOLDING = 64 /* records that wait before runs are refined */
};

#endif
