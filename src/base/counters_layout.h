/* Layout of the counter segment that processes under Hoist share: one file, mapped by `hoist run`,
 * by the preload library (C) and by the engines, and read live by `hoist top`.
 *
 * The file is /dev/shm/hoist-UID/PID-RANDOM (directory 0700, owner-checked; Counters::directory()
 * says where else); its path travels in the environment as HOIST_COUNTERS. Whoever counts holds a
 * shared flock() on it while he lives; a file without one may be swept. An engine that nobody has
 * given a segment counts in memory of its own (memfd HOIST_COUNTERS_MEMORY), of which nothing
 * stays when it is killed.
 *
 * All of a segment's pages are set aside before anybody maps it, and whoever maps it makes sure of
 * that: touching a page for which there is no room would raise SIGBUS in somebody's program.
 *
 * Readers treat every field as untrusted: counts are clamped to the array sizes and strings to
 * their arrays. Writers use relaxed atomics on the 64-bit fields. A slot is claimed by incrementing
 * its count and is valid once `ready` is 1 (release/acquire). */
#ifndef HOIST_BASE_COUNTERS_LAYOUT_H
#define HOIST_BASE_COUNTERS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define HOIST_COUNTERS_MAGIC 0x3353524e54434f48ull /* "HOCTNRS3" */
#define HOIST_COUNTERS_ENV "HOIST_COUNTERS"
#define HOIST_COUNTERS_MEMORY "hoist-counters"
/* Set for the engine that is execed in a program's place: PROGRAM:PACKAGE:VERSION:ORIGINAL_PATH. */
#define HOIST_TAKEOVER_ENV "HOIST_TAKEOVER"
/* Set beside it where the user started the program rather than the engine by its name. */
#define HOIST_RECOGNISED_ENV "HOIST_RECOGNISED"
/* PID or PID:REASON: this process's next exec stays with the original, for a reason that is still
 * to be recorded. */
#define HOIST_SKIP_ENV "HOIST_SKIP"

enum {
  HOIST_MAX_PROGRAMS = 4096,
  HOIST_MAX_OPERATIONS = 16,
  HOIST_MAX_IMPLEMENTATIONS = 4,
  HOIST_MAX_REASONS = 12,
  HOIST_ARGV_BYTES = 192,
  HOIST_REASON_BYTES = 64,
  HOIST_NAME_BYTES = 16
};

struct hoist_program_slot {
  uint32_t ready;
  int32_t pid;
  uint32_t taken_over;             /* 0 no, 1 yes */
  uint32_t argument_count;         /* of the arguments in argv */
  char reason[HOIST_REASON_BYTES]; /* why it was taken over, or why not; NUL-terminated */
  char argv[HOIST_ARGV_BYTES];     /* arguments, each NUL-terminated, cut at the array's end */
};

struct hoist_implementation_slot {
  char name[HOIST_NAME_BYTES];
  uint64_t calls;
  uint64_t bytes;
  uint64_t nanoseconds;
};

struct hoist_passed_slot {
  char reason[HOIST_REASON_BYTES];
  uint64_t count;
};

struct hoist_operation_slot {
  uint32_t ready;
  uint32_t implementation_count;
  uint32_t passed_count;
  uint32_t lock; /* spin lock for adding names: pid of the holder, or 0 */
  char name[HOIST_NAME_BYTES];
  uint64_t calls;
  uint64_t bytes;
  uint64_t nanoseconds;
  struct hoist_implementation_slot implementations[HOIST_MAX_IMPLEMENTATIONS];
  struct hoist_passed_slot passed[HOIST_MAX_REASONS];
};

struct hoist_counters {
  uint64_t magic;
  uint64_t size; /* of the segment, which says how many program slots there are */
  int32_t root_pid;
  uint32_t program_count; /* may exceed the slots: the rest was not recorded */
  uint32_t operation_count;
  uint32_t lock; /* for adding operations */
  struct hoist_operation_slot operations[HOIST_MAX_OPERATIONS];
  struct hoist_program_slot programs[HOIST_MAX_PROGRAMS]; /* mostly fewer, see `size` */
};

static inline uint64_t hoist_counters_size(uint32_t program_slots) {
  return offsetof(struct hoist_counters, programs) +
         (uint64_t)program_slots * sizeof(struct hoist_program_slot);
}

/* 0 for what is no segment's size. */
static inline uint32_t hoist_counters_slots(uint64_t size) {
  if (size < hoist_counters_size(1) || size > hoist_counters_size(HOIST_MAX_PROGRAMS)) return 0;
  const uint32_t slots =
      (uint32_t)((size - hoist_counters_size(0)) / sizeof(struct hoist_program_slot));
  return hoist_counters_size(slots) == size ? slots : 0;
}

#endif
