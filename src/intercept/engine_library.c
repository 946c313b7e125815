#include "intercept/engine_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "intercept/kept_environment.h"
#include "intercept/loaded_symbols.h"
#include "intercept/preload.h"
#include "intercept/record.h"
#include "intercept/restriction.h"
#include "intercept/stack_room.h"
#include "intercept/watching_tool.h"
#include "takeover/operations.h"

enum state { UNTRIED, LOADING, READY, UNAVAILABLE };

/* The process whose memory this is. fork() makes a new one, vfork() does not: its child has another
 * pid and would start threads in its parent's memory. */
static pid_t owner;

/* Containers start their programs with a filter of system calls. A program that sets up one itself
 * has listed what it needs, which files and threads of ours are not among. So the mode stays what
 * it was at the first call that is worth an engine: a program without such calls is not asked for
 * it, since its filter may answer any call that it does not make itself with death. */
enum { NOT_ASKED = -1000, FILTERED };
static int seccomp_mode = NOT_ASKED;

static int64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until `*state` is another one, for a moment at most: who would change it may itself be waiting
 * for this thread. */
static void wait_while(const int* state, int value) {
  enum { kMostMilliseconds = 200 };
  const struct timespec pause = {.tv_nsec = 100 * 1000};
  if (__atomic_load_n(state, __ATOMIC_SEQ_CST) != value) return; /* with no system call */
  const int64_t end = milliseconds() + kMostMilliseconds;
  while (__atomic_load_n(state, __ATOMIC_SEQ_CST) == value && milliseconds() < end) {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
  }
}

/* A child that is made while another thread is in dlopen() can never call that itself: the lock is
 * held for good there. So a fork waits for an engine to be loaded, and none is begun meanwhile. */
static int loading; /* 0 or 1 */
static int forking;

static bool begin_loading(void) {
  int expected = 0;
  if (!__atomic_compare_exchange_n(&loading, &expected, 1, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_SEQ_CST)) {
    return false;
  }
  if (__atomic_load_n(&forking, __ATOMIC_SEQ_CST) == 0) return true;
  __atomic_store_n(&loading, 0, __ATOMIC_SEQ_CST);
  return false;
}

static void end_loading(void) { __atomic_store_n(&loading, 0, __ATOMIC_SEQ_CST); }

/* Binding the C library's function would take longer. Negative: the error. */
static long bare_system_call(long number, long argument) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(argument), "S"(0L), "d"(0L)
                   : "rcx", "r11", "memory");
  return result;
}

/* The following run with every fork of a process that may never use an engine. Functions of the C
 * library would be bound again in each child, and a variable that is written costs each side a copy
 * of its page. */
static __thread __attribute__((tls_model("initial-exec"))) bool fork_is_counted;

static void before_fork(void) {
  if (__libc_single_threaded) return; /* nobody else loads */
  const int saved = errno;
  __atomic_add_fetch(&forking, 1, __ATOMIC_SEQ_CST);
  fork_is_counted = true;
  wait_while(&loading, 1);
  errno = saved;
}

static void after_fork_in_parent(void) {
  if (!fork_is_counted) return;
  fork_is_counted = false;
  __atomic_sub_fetch(&forking, 1, __ATOMIC_SEQ_CST);
}

static void note_owner(void) { owner = (pid_t)bare_system_call(SYS_getpid, 0); }

static void after_fork_in_child(void) {
  note_owner();
  if (!fork_is_counted) return;
  fork_is_counted = false;
  forking = 0; /* `loading` stays as it is: the lock may be held */
}

static int seccomp_mode_now(void) { return (int)bare_system_call(SYS_prctl, PR_GET_SECCOMP); }

__attribute__((constructor)) static void watch_process(void) {
  note_owner();
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static int first_seccomp_mode(void) {
  const enum hoist_call_filter filter = hoist_call_filter();
  if (filter == HOIST_OWN_FILTER) return FILTERED;
  const int mode = seccomp_mode_now();
  return filter == HOIST_FILTER_UNTOLD && mode != 0 ? FILTERED : mode;
}

static bool may_work(void) {
  if (is_restricted() || getpid() != owner) return false;
  int mode = __atomic_load_n(&seccomp_mode, __ATOMIC_RELAXED);
  if (mode == NOT_ASKED) {
    mode = first_seccomp_mode();
    __atomic_store_n(&seccomp_mode, mode, __ATOMIC_RELAXED);
  }
  return mode != FILTERED && seccomp_mode_now() == mode;
}

/* lib/libhoist_OPERATION.so of the tree that this library is in. */
static bool library_path(const char* operation, char path[PATH_MAX]) {
  Dl_info info;
  char own[PATH_MAX];
  if (dladdr(&owner, &info) == 0 || realpath(info.dli_fname, own) == NULL) return false;
  char* slash = strrchr(own, '/');
  if (slash == NULL) return false;
  *slash = '\0';
  const int length = snprintf(path, PATH_MAX, "%s/libhoist_%s.so", own, operation);
  return length > 0 && length < PATH_MAX;
}

static bool is_on_request(const char* operation) {
  const enum hoist_operation_id id = hoist_find_operation(operation, strlen(operation));
  return id != HOIST_OPERATIONS && !hoist_operations[id].is_on_by_default;
}

/* Null on success, or why there is no engine. */
static const char* load(struct engine_library* engine) {
  if (getauxval(AT_SECURE) != 0) return "raised privileges";
  const char* reason = engine->on_request || is_on_request(engine->operation)
                           ? not_requested(engine->operation)
                           : switched_off(engine->operation);
  if (reason == NULL) reason = watching_tool();
  if (reason != NULL) return reason;
  if ((reason = limits_objection()) != NULL) return reason;
  char path[PATH_MAX];
  if (!library_path(engine->operation, path) || access(path, R_OK) != 0) return "engine not found";
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    (void)dlerror(); /* the next one is to be the program's */
    return "engine not loaded";
  }
  engine->address = dlsym(library, engine->function);
  return engine->address != NULL ? NULL : "engine of another version";
}

/* Bytes of stack that the dynamic linker and the engine's constructors need, amply. */
enum { kEnoughStack = 256 << 10 };

static void load_and_tell(struct engine_library* engine) {
  const char* reason = load(engine);
  const char* counters = hoist_environment(HOIST_COUNTERS_ENV);
  if (reason != NULL && counters != NULL) record_passed(counters, engine->operation, reason);
  __atomic_store_n(&engine->state, reason == NULL ? READY : UNAVAILABLE, __ATOMIC_RELEASE);
  end_loading();
}

static void* load_on_thread(void* engine) {
  load_and_tell(engine);
  return NULL;
}

/* dlopen() waits for a thread that is in dlopen() already, constructors included, and one of those
 * may be waiting for the thread that calls us. So where there are other threads, one of our own
 * loads, and the call waits for it for a moment only. */
static void load_beside(struct engine_library* engine) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 4 * kEnoughStack);
  const bool started = pthread_create(&thread, &attributes, load_on_thread, engine) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) {
    __atomic_store_n(&engine->state, UNTRIED, __ATOMIC_RELAXED);
    end_loading();
  }
  wait_while(&engine->state, LOADING);
}

static void load_once(struct engine_library* engine) {
  if (stack_room() < kEnoughStack) return; /* another thread's call may */
  /* What a signal handler's longjmp() or a cancellation would interrupt could not be taken up. */
  sigset_t all;
  sigset_t signals;
  int cancel_state;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  int expected = UNTRIED;
  if (!begin_loading()) {
    /* another call may */
  } else if (!__atomic_compare_exchange_n(&engine->state, &expected, LOADING, false,
                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    end_loading();
  } else if (__libc_single_threaded) {
    load_and_tell(engine);
  } else {
    load_beside(engine);
  }
  pthread_setcancelstate(cancel_state, NULL);
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

/* For good. */
static void give_up(struct engine_library* engine) {
  int expected = UNTRIED;
  if (!__atomic_compare_exchange_n(&engine->state, &expected, UNAVAILABLE, false, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED)) {
    return;
  }
  const char* counters = hoist_environment(HOIST_COUNTERS_ENV);
  if (counters != NULL) record_passed(counters, engine->operation, HOIST_FILTERED);
}

void* engine_function(struct engine_library* engine) {
  if (__atomic_load_n(&engine->state, __ATOMIC_RELAXED) == UNAVAILABLE) return NULL;
  const int saved = errno;
  const bool allowed = may_work();
  if (!allowed && __atomic_load_n(&seccomp_mode, __ATOMIC_RELAXED) == FILTERED) give_up(engine);
  if (allowed && __atomic_load_n(&engine->state, __ATOMIC_RELAXED) == UNTRIED) load_once(engine);
  const bool ready = allowed && __atomic_load_n(&engine->state, __ATOMIC_ACQUIRE) == READY;
  errno = saved;
  return ready ? engine->address : NULL;
}

void* original_function(void** slot, const char* name, const char* library) {
  void* known = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (known != NULL) return known;
  /* The C library's, where there is no other: that takes no lock. It is never unloaded. */
  const struct loaded_symbol only = find_loaded_symbol(name);
  if (only.definitions == 1 && strcmp(library, "libc.so.6") == 0) known = only.address;
  if (known == NULL) known = dlsym(RTLD_NEXT, name);
  if (known == NULL) {
    void* loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded != NULL) known = dlsym(loaded, name);
  }
  __atomic_store_n(slot, known, __ATOMIC_RELAXED);
  return known;
}
