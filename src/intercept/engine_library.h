/* Engines for library calls: lib/libhoist_NAME.so beside the preload library, each loaded at the
 * first call that is worth it, once, and never unloaded.
 *
 *   static struct engine_library engine = {.operation = "qsort", .function = "hoist_qsort"};
 *   hoist_qsort_function* sort = (hoist_qsort_function*)engine_function(&engine);
 *   if (sort == NULL) … the original …
 *
 * Any thread may ask. Whatever keeps an engine from being used keeps it so for the life of the
 * process, and is counted once: a process makes up its mind one time. */
#ifndef HOIST_INTERCEPT_ENGINE_LIBRARY_H
#define HOIST_INTERCEPT_ENGINE_LIBRARY_H

#include <stdbool.h>

struct engine_library {
  const char* operation; /* its name in HOIST_OPS and in counters */
  const char* function;  /* what its library exports */
  bool on_request;       /* besides operations that are: only where HOIST_OPS names them */
  int state;             /* the rest is engine_function()'s own; zeros at first */
  void* address;
};

/* Null where the original has to do the work: Hoist or the operation is switched off, the program
 * has raised privileges, a sanitizer or valgrind watches its calls (watching_tool.h), the library
 * cannot be loaded, it is still being loaded at this moment, the program has restricted its own
 * system calls since its start, or this is a vfork() child, whose memory is its parent's. errno is
 * kept. Not in signal handlers: the functions that engines stand in for are not allowed there
 * either. */
void* engine_function(struct engine_library* engine);

/* The function `name` of the library that comes behind us; looked up once and kept in `*slot`.
 * `library`, "libc.so.6", is asked by name where the search order does not lead to it: it was
 * loaded by dlopen() without RTLD_GLOBAL. Null where the program refers to it weakly and no library
 * has it; never for the C library's. */
void* original_function(void** slot, const char* name, const char* library);

#endif
