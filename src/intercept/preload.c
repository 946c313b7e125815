/* libhoist_preload.so: replaces a program that we know by a faster engine, before its main runs,
 * and stands in for library functions with heavy work in all others.
 *
 * The start-up code of every dynamically linked program calls __libc_start_main(main, …). Ours
 * passes the C library a main of our own, which looks at the program (recognise.c), the
 * environment (environment.c) and the arguments (arguments.c) and then either execs the engine with
 * the same argv, or calls the program's main. Either way the constructors of all libraries have
 * run, and nothing has been read or written. A program that we do not know costs a look at its
 * build-id and a few getenv calls.
 *
 * The functions that are stood in for are listed in `symbols`; qsort.c has ours for qsort() and
 * qsort_r(). Their engines are libraries, loaded at the first call that is worth it
 * (engine_library.h): a program that makes none costs one system call at its start, getpid().
 *
 * The definition below carries no symbol version, so it answers programs linked against
 * __libc_start_main@GLIBC_2.34 and @GLIBC_2.2.5 alike; since glibc 2.34 both are one function. */
#include "intercept/preload.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "base/counters_layout.h"
#include "intercept/kept_environment.h"
#include "intercept/loaded_symbols.h"
#include "intercept/watching_tool.h"

typedef int main_function(int, char**, char**);
typedef int start_function(main_function*, int, char**, main_function*, void (*)(void),
                           void (*)(void), void*);

extern char** environ;
static main_function* original_main;

/* PREFIX/libexec/hoist/hoist-OPERATION for PREFIX/lib/libhoist_preload.so, so that the tree may be
 * moved. realpath: the library may have been found through a link (see src/cli/tree.h). */
static bool engine_path(const char* operation, char path[PATH_MAX]) {
  Dl_info info;
  char library[PATH_MAX];
  if (dladdr(&original_main, &info) == 0 || realpath(info.dli_fname, library) == NULL) return false;
  for (int level = 0; level < 2; ++level) {
    char* slash = strrchr(library, '/');
    if (slash == NULL) return false;
    *slash = '\0';
  }
  const int length = snprintf(path, PATH_MAX, "%s/libexec/hoist/hoist-%s", library, operation);
  return length > 0 && length < PATH_MAX && access(path, X_OK) == 0;
}

/* Where the engine finds the original again. False where the file is gone or was replaced, or where
 * the dynamic linker was started by hand (`ld.so PROGRAM`) and is what /proc/self/exe names. */
static bool original_path(char path[PATH_MAX]) {
  if (getauxval(AT_BASE) == 0) return false;
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length <= 0 || length >= PATH_MAX - 1) return false;
  path[length] = '\0';
  return path[0] == '/' && access(path, X_OK) == 0;
}

/* Returns only where the engine could not be started. The environment is extended in a copy, so
 * that the program's own is untouched then. */
static const char* exec_engine(const struct identity* identity, char** argv) {
  char engine[PATH_MAX];
  char original[PATH_MAX];
  char takeover[PATH_MAX + 128];
  if (!engine_path(identity->operation, engine)) return "engine not found";
  if (!original_path(original)) return "no path to the original";
  snprintf(takeover, sizeof takeover, "%s=%s:%s:%s:%s", HOIST_TAKEOVER_ENV, identity->program,
           identity->package, identity->version, original);
  size_t count = 0;
  while (environ[count] != NULL) ++count;
  char** extended = malloc((count + 3) * sizeof *extended);
  if (extended == NULL) return "out of memory";
  memcpy(extended, environ, count * sizeof *extended);
  extended[count] = takeover;
  extended[count + 1] = HOIST_RECOGNISED_ENV "=1";
  extended[count + 2] = NULL;
  execve(engine, argv, extended);
  free(extended);
  return "engine not started";
}

/* Execs the engine, or says why not. */
static const char* take_over(int argc, char** argv) {
  struct identity identity;
  const char* reason = recognise_program(&identity);
  if (reason == NULL) reason = watching_tool();
  if (reason == NULL) reason = switched_off(identity.operation);
  if (reason == NULL) reason = environment_objection(&identity);
  if (reason == NULL && hoist_call_filter() == HOIST_OWN_FILTER) reason = HOIST_FILTERED;
  if (reason == NULL) reason = arguments_objection(&identity, argc, argv);
  return reason != NULL ? reason : exec_engine(&identity, argv);
}

/* getenv(), without a look at all of the environment where nothing in it is ours. */
static const char* own_variable(const char* name) {
  return hoist_is_mentioned() ? getenv(name) : NULL;
}

static int wrapped_main(int argc, char** argv, char** envp) {
  const char* skip = own_variable(HOIST_SKIP_ENV);
  char* reason_to_skip = NULL;
  const bool skipped = skip != NULL && strtol(skip, &reason_to_skip, 10) == getpid();
  const bool secure = getauxval(AT_SECURE) != 0;
  const char* reason = NULL;
  /* An engine that stepped aside has recorded why, one that crashed could not; an engine records
   * for itself. */
  if (skipped && *reason_to_skip == ':') reason = reason_to_skip + 1;
  if (!skipped && !secure && argv[0] != NULL && own_variable(HOIST_TAKEOVER_ENV) == NULL) {
    reason = take_over(argc, argv);
    const char* tool = watching_tool();
    if (tool != NULL) reason = tool;
  }
  const char* counters = own_variable(HOIST_COUNTERS_ENV);
  if (reason != NULL && counters != NULL && !secure) record_program(counters, argv, reason);
  if (skipped) unsetenv(HOIST_SKIP_ENV);
  return original_main(argc, argv, envp);
}

__attribute__((visibility("default"))) int __libc_start_main(main_function* main, int argc,
                                                             char** argv, main_function* init,
                                                             void (*fini)(void),
                                                             void (*rtld_fini)(void),
                                                             void* stack_end);

int __libc_start_main(main_function* main, int argc, char** argv, main_function* init,
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  static const char kName[] = "__libc_start_main";
  start_function* real = (start_function*)find_initial_symbol(kName);
  if (real == NULL) real = (start_function*)dlsym(RTLD_NEXT, kName);
  if (real == NULL) _exit(127); /* no C library behind us: there is nothing to start */
  original_main = main;
  return real(wrapped_main, argc, argv, init, fini, rtld_fini, stack_end);
}
