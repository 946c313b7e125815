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

/* Whether limits leave so little memory that mapping a library of ours could be what is too much.
 */
bool hoist_has_no_room(void);

#ifdef __cplusplus
}
#endif

#endif
