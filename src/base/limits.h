/* Limits of this process (getrlimit), as far as they leave room for what we add. */
#ifndef HOIST_BASE_LIMITS_H
#define HOIST_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a limit (RLIMIT_…) is lower than `least`. */
bool hoist_limit_is_below(int resource, uint64_t least);

/* Whether address space is limited so far that we stay away, our libraries included: threads
 * reserve stacks and arenas, so a limit that a program lives under could stop an engine half-way,
 * or leave the program's own memory none. */
bool hoist_has_no_room(void);
#define HOIST_NO_ROOM "address space is limited"

#ifdef __cplusplus
}
#endif

#endif
