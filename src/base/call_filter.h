/* Filters of system calls (seccomp) that a process has from its start. Which calls one refuses, or
 * answers with death, cannot be asked. */
#ifndef HOIST_BASE_CALL_FILTER_H
#define HOIST_BASE_CALL_FILTER_H

#ifdef __cplusplus
extern "C" {
#endif

enum hoist_call_filter {
  HOIST_NO_FILTER,
  HOIST_FILTER_OF_ALL, /* the first process of this container or machine has it as well */
  HOIST_OWN_FILTER,    /* or one more than that */
  HOIST_FILTER_UNTOLD  /* there is no /proc, or it may not be read */
};

/* This thread's. Whoever put one of its own there, a sandbox for one program, knows what that
 * program calls and nothing of us. That of a whole container is for all programs, and answers with
 * an error (Docker's and Podman's profiles). Opens, reads and closes files of /proc, as every start
 * of a program opens and reads its libraries, and does nothing else. */
enum hoist_call_filter hoist_call_filter(void);

#ifdef __cplusplus
}
#endif

#define HOIST_FILTERED "its system calls are filtered"

#endif
