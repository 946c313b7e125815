/* libhoist_memcpy.so: very large memcpy() and memmove(), by several threads.
 *
 *   if (!hoist_memcpy(to, from, size)) {
 *     memmove(to, from, size);
 *   }
 *
 * One core seldom moves what the memory could deliver; docs/reference/memcpy.md says from which
 * size on several threads are faster, and on which machines. Any thread may call it, several at
 * once (one has the threads), also in a child after fork(); not in signal handlers and not in
 * vfork() children. errno, the signal mask and, after the call, the number of threads are what they
 * were.
 *
 * A program that has handlers for SIGSEGV or SIGBUS sees its faults on the calling thread, before
 * any other thread works: every page is touched there first. What other threads of the program do
 * to the mapping during the call is not noticed. */
#ifndef HOIST_OPS_MEMCPY_MEMCPY_H
#define HOIST_OPS_MEMCPY_MEMCPY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef bool hoist_memcpy_function(void* to, const void* from, size_t size);

/* Whether it copied. False: the target's content is undefined (some of it may be copied), and
 * memmove() has to copy all; where the two overlap nothing has been touched. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
bool hoist_memcpy(void* to, const void* from, size_t size);

#ifdef __cplusplus
}
#endif

#endif
