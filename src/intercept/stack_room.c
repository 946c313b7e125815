#include "intercept/stack_room.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "intercept/restriction.h"

/* pthread_getattr_np() would read /proc/self/maps for the main thread. The kernel put the name of
 * the program's file at that stack's upper end, and keeps 128 MiB below it free of mappings at
 * least, so that what is nearer is the stack. */
static size_t main_room(uintptr_t here) {
  const size_t kMost = (size_t)64 << 20;
  const uintptr_t top = getauxval(AT_EXECFN);
  struct rlimit limit;
  if (here > top || getrlimit(RLIMIT_STACK, &limit) != 0) return 0;
  const size_t size = limit.rlim_cur < kMost ? (size_t)limit.rlim_cur : kMost;
  const size_t used = top - here;
  return used < size ? size - used : 0;
}

static size_t thread_room(uintptr_t here) {
  pthread_attr_t attributes;
  void* lowest;
  size_t size;
  if (gettid() == getpid() || pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  const int result = pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const uintptr_t start = (uintptr_t)lowest;
  return result == 0 && here >= start && here - start < size ? here - start : 0;
}

size_t stack_room(void) {
  if (is_restricted()) return 0;
  const int saved = errno;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  size_t room = main_room(here);
  if (room == 0) room = thread_room(here);
  errno = saved;
  return room;
}
