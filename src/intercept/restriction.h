/* Whether the program has restricted its own system calls (seccomp) since its start. It has listed
 * what it needs, which files and threads of ours are not among; a system call that is not on the
 * list may end it, even one that only asks. So the restriction is noted when it is made. */
#ifndef HOIST_INTERCEPT_RESTRICTION_H
#define HOIST_INTERCEPT_RESTRICTION_H

#include <stdbool.h>

/* What came by prctl() or seccomp_load(); no system call. */
bool is_restricted(void);
void note_restriction(void);

#endif
