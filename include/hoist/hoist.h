/* Hoist as a library of C: what its parts share.
 *
 *   cc -std=c99 program.c $(pkg-config --cflags --libs hoist)
 *
 * hoist/tensors.h (model weights that load progressively), hoist/packed.h (weights that stay packed
 * in memory), hoist/match.h (exact similarity search) and hoist/px.h (kernels on CPU and GPU) are
 * the parts; each includes this header. They are C99,
 * and C++ too. Nothing but what these headers declare is the library's interface; hoist/gemm.h is
 * of something else (`hoist run`).
 *
 * Errors. A call that can fail returns a hoist_status. What went wrong, where and what would help
 * is then in hoist_error_message(), of the calling thread. A call that fails leaves what it was
 * given as it was, and sets the results that it would have given to null or zero; where that is not
 * so, its comment says what. No C++ exception leaves the library, and none may enter it from a
 * function that it calls.
 *
 * Structs begin with their own size, which the caller sets:
 *
 *   hoist_tensors_read_options options = {.size = sizeof options, .target = 0.99};
 *
 * so that later versions can add fields at their ends. In options a zero always means the default,
 * and so does a null pointer in place of the struct. Fields that this version does not know are
 * `HOIST_UNSUPPORTED` unless they are zero. In structs that the library fills, fields that it does
 * not know become zero.
 *
 * Handles are pointers to structs that stay the library's. Null in place of a handle is
 * `HOIST_INVALID_ARGUMENT`; functions that free do nothing with null. Every other pointer that is
 * not said to be optional must be valid.
 *
 * Strings are UTF-8 and end with a null byte.
 *
 * Threads. Calls may come from any thread, and any number of them may use one handle at once,
 * unless its comment says "one thread at a time"; freeing a handle is for when no other call uses
 * it. Work is spread over the CPUs that the process may use, or HOIST_THREADS of them; the threads
 * are started by the first call that needs them. Not for signal handlers.
 *
 * fork(). A child may use the library, but not a GPU that its parent has found. Of the parent's
 * handles it has what they were at the moment of the fork, whatever other threads were doing:
 * searches, predictions, statistics and reads of tensors answer. What would change something, or
 * needs a thread, a device or a database of the parent's, returns HOIST_UNAVAILABLE; closing and
 * freeing change nothing of the parent's. exit() in a child whose parent had an index in a folder
 * open does not call what was registered by atexit() before the first one was opened.
 *
 * Environment: HOIST_THREADS, HOIST_GPU=off (no CUDA device is found), HOIST_LOG. */
#ifndef HOIST_HOIST_H
#define HOIST_HOIST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOIST_VERSION_MAJOR 0
#define HOIST_VERSION_MINOR 1
#define HOIST_VERSION_PATCH 0

/* The version of the library that was loaded: "0.1.0". */
const char* hoist_version(void);

/* Numbers never change their meaning; later versions may have further ones. */
typedef enum hoist_status {
  HOIST_OK = 0,
  HOIST_INVALID_ARGUMENT = 1, /* an argument is wrong */
  HOIST_NOT_FOUND = 2,        /* there is no such thing */
  HOIST_CORRUPT = 3,          /* bytes are not what they should be */
  HOIST_UNSUPPORTED = 4,      /* it may be right, but this version does not do it */
  HOIST_UNAVAILABLE = 5,      /* a device, or something else that is needed, is not there */
  HOIST_EXHAUSTED = 6,        /* no memory, or a limit was reached */
  HOIST_IO = 7,               /* reading or writing failed; hoist_error_errno() says how */
  HOIST_CANCELLED = 8,        /* it was stopped as asked */
  HOIST_INTERNAL = 9          /* a fault in the library itself */
} hoist_status;

/* "invalid argument"; of numbers that this version does not have "unknown". Never null. */
const char* hoist_status_name(hoist_status status);

/* The message of this thread's last call that failed; empty where none did. Stays until its next
 * one. A message of more than 1 KiB is cut. */
const char* hoist_error_message(void);
/* The errno behind it, or 0. */
int hoist_error_errno(void);

/* Called now and then with what is done, in bytes unless said otherwise, and what there is in all.
 * Anything but 0 stops the call, which then returns HOIST_CANCELLED; only where the last report
 * says so and a file is in its place by then may it be HOIST_OK. It comes on the calling thread or
 * on one of the library's, never on two at once, and must not call the library with the handle that
 * is in use. */
typedef int hoist_progress_function(void* context, uint64_t done, uint64_t total);

/* What another thread stops a call with: a call that was given one returns HOIST_CANCELLED soon
 * after hoist_cancellation_request(), and so does every later one. To be freed after the calls that
 * it was given to. */
typedef struct hoist_cancellation hoist_cancellation;
hoist_status hoist_cancellation_create(hoist_cancellation** cancellation);
void hoist_cancellation_request(hoist_cancellation* cancellation);
void hoist_cancellation_free(hoist_cancellation* cancellation);

/* Frees text that the library gave. */
void hoist_text_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
