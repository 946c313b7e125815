/* How much stack is left. */
#ifndef HOIST_INTERCEPT_STACK_ROOM_H
#define HOIST_INTERCEPT_STACK_ROOM_H

#include <stddef.h>

/* Bytes that the calling thread may still put on its stack; 0 where it runs on a stack that is not
 * its own (a coroutine's, an alternate signal stack), of which nothing is known, and where the
 * program has restricted its system calls. errno is kept. */
size_t stack_room(void);

#endif
