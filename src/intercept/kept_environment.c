#include "intercept/kept_environment.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/rarely_touched.h"

extern char** environ;

enum { kRoom = PATH_MAX + 2048 };

/* NAME=VALUE, each ended by a zero byte; an empty one ends them all. */
static char kept[kRoom] RARELY_TOUCHED;

static bool mentioned;

/* Spelt out, like keep(): each function of the C library that a start calls is bound first, which
 * takes as long as all this. */
static bool begins_with(const char* entry, const char* name) {
  while (*name != '\0' && *entry == *name) ++entry, ++name;
  return *name == '\0';
}

__attribute__((constructor)) static void keep(void) {
  size_t used = 0;
  for (char** variable = environ; variable != NULL && *variable != NULL; ++variable) {
    const char* entry = *variable;
    const bool is_ours = begins_with(entry, "HOIST");
    mentioned |= is_ours;
    if (!is_ours && !begins_with(entry, "XDG_CACHE_HOME=") && !begins_with(entry, "HOME=")) {
      continue;
    }
    size_t end = used;
    while (end < kRoom - 1 && *entry != '\0') kept[end++] = *entry++;
    kept[end++] = '\0';
    if (*entry == '\0' && end < kRoom) used = end;
    kept[used] = '\0';
  }
}

bool hoist_is_mentioned(void) { return mentioned; }

const char* hoist_environment(const char* name) {
  const char* now = getenv(name);
  if (now != NULL) return now;
  const size_t length = strlen(name);
  for (const char* entry = kept; *entry != '\0'; entry += strlen(entry) + 1) {
    if (strncmp(entry, name, length) == 0 && entry[length] == '=') return entry + length + 1;
  }
  return NULL;
}
