#include "intercept/kept_environment.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern char** environ;

enum { kRoom = PATH_MAX + 2048 };

/* NAME=VALUE, each ended by a zero byte; an empty one ends them all. */
static char kept[kRoom];

static bool is_ours(const char* entry) {
  return strncmp(entry, "HOIST", 5) == 0 || strncmp(entry, "XDG_CACHE_HOME=", 15) == 0 ||
         strncmp(entry, "HOME=", 5) == 0;
}

__attribute__((constructor)) static void keep(void) {
  size_t used = 0;
  for (char** entry = environ; entry != NULL && *entry != NULL; ++entry) {
    if (!is_ours(*entry)) continue;
    const size_t size = strlen(*entry) + 1;
    if (size >= kRoom - used) continue;
    memcpy(kept + used, *entry, size);
    used += size;
  }
}

const char* hoist_environment(const char* name) {
  const char* now = getenv(name);
  if (now != NULL) return now;
  const size_t length = strlen(name);
  for (const char* entry = kept; *entry != '\0'; entry += strlen(entry) + 1) {
    if (strncmp(entry, name, length) == 0 && entry[length] == '=') return entry + length + 1;
  }
  return NULL;
}
