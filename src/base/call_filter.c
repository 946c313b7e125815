#include "base/call_filter.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number behind `key` in a file of lines KEY:\tNUMBER (proc_pid_status(5)); -1 where there is
 * none. The file may be longer than the buffer: a list of groups is in it. */
static long status_number(const char* path, const char* key) {
  enum { kKeep = 64 };
  char text[1024 + 1];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t used = 0;
  ssize_t got;
  long number = -1;
  while (number < 0 && (got = read(fd, text + used, sizeof text - 1 - used)) > 0) {
    used += (size_t)got;
    text[used] = '\0';
    const char* found = strstr(text, key);
    const char* end = found != NULL ? strchr(found, '\n') : NULL;
    if (end != NULL) number = strtol(found + strlen(key), NULL, 10);
    const size_t kept = used < kKeep ? used : kKeep;
    memmove(text, text + used - kept, kept);
    used = kept;
  }
  close(fd);
  return number;
}

/* Whether the first process has as many of what `key` counts; also where it cannot be seen. */
static bool first_has_as_many(const char* key, long own) {
  const long first = status_number("/proc/1/status", key);
  return first < 0 || first == own;
}

enum hoist_call_filter hoist_call_filter(void) {
  static const char kOwn[] = "/proc/thread-self/status";
  static const char kMode[] = "\nSeccomp:";
  static const char kCount[] = "\nSeccomp_filters:"; /* Linux 5.9 */
  enum { kStrict = 1 };                              /* read() and write() are all there is */
  const long mode = status_number(kOwn, kMode);
  if (mode < 0) return HOIST_FILTER_UNTOLD;
  if (mode == 0) return HOIST_NO_FILTER;
  if (mode == kStrict || !first_has_as_many(kMode, mode)) return HOIST_OWN_FILTER;
  const long count = status_number(kOwn, kCount);
  return count < 0 || first_has_as_many(kCount, count) ? HOIST_FILTER_OF_ALL : HOIST_OWN_FILTER;
}
