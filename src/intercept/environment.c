/* What the environment says about taking a program over. A variable that expects its effect inside
 * the original program, or that could keep the engine from starting, leaves the original alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "intercept/kept_environment.h"
#include "intercept/preload.h"
#include "takeover/operations.h"

extern char** environ;

bool hoist_off(void) {
  const char* value = hoist_environment("HOIST");
  return value != NULL && (strcasecmp(value, "off") == 0 || strcmp(value, "0") == 0 ||
                           strcasecmp(value, "false") == 0 || strcasecmp(value, "no") == 0);
}

static bool operation_enabled(const char* operation, bool on_by_default) {
  const enum hoist_operation_id id = hoist_find_operation(operation, strlen(operation));
  return hoist_list_enables(hoist_environment("HOIST_OPS"), id, on_by_default);
}

const char* switched_off(const char* operation) {
  if (hoist_off()) return "HOIST=off";
  return operation_enabled(operation, true) ? NULL : "switched off by HOIST_OPS";
}

const char* not_requested(const char* operation) {
  if (hoist_off()) return "HOIST=off";
  return operation_enabled(operation, false) ? NULL : "only on request (HOIST_OPS)";
}

/* Our own libraries, libhoist_preload.so and libhoist_preload_NAME.so. */
static bool is_ours(const char* name, size_t length) {
  static const char kOurs[] = "libhoist_preload";
  const size_t known = sizeof kOurs - 1;
  return length > known && memcmp(name, kOurs, known) == 0 &&
         (name[known] == '.' || name[known] == '_');
}

/* Allocators and the like, which change no answer and serve the engine as they serve the original.
 * Everything else (libfaketime, libstdbuf, sanitizers, fakeroot…) wants the program itself. */
static bool is_harmless_library(const char* path, size_t length) {
  static const char* const kHarmless[] = {
      "libjemalloc.so",  "libtcmalloc.so",  "libtcmalloc_minimal.so", "libmimalloc.so",
      "libeatmydata.so", "libhugetlbfs.so", "libgtk3-nocsd.so"};
  const char* name = path + length;
  while (name > path && name[-1] != '/') --name;
  const size_t name_length = (size_t)(path + length - name);
  if (is_ours(name, name_length)) return true;
  for (size_t i = 0; i < sizeof kHarmless / sizeof kHarmless[0]; ++i) {
    const size_t known = strlen(kHarmless[i]);
    if (name_length >= known && memcmp(name, kHarmless[i], known) == 0 &&
        (name_length == known || name[known] == '.')) {
      return true;
    }
  }
  return false;
}

static bool all_harmless(const char* list) {
  while (*list != '\0') {
    const size_t length = strcspn(list, ": ");
    if (length != 0 && !is_harmless_library(list, length)) return false;
    list += length;
    if (*list != '\0') ++list;
  }
  return true;
}

/* Whether a folder of LD_LIBRARY_PATH holds another C library, the only one that an engine needs:
 * one that is too old would keep it from starting, when it is too late to go back. */
static bool replaces_engine_library(const char* list) {
  while (*list != '\0') {
    const size_t length = strcspn(list, ":;");
    char path[4096];
    snprintf(path, sizeof path, "%.*s/libc.so.6", length > 0 ? (int)length : 1,
             length > 0 ? list : ".");
    if (access(path, F_OK) == 0) return true;
    list += length;
    if (*list != '\0') ++list;
  }
  return false;
}

/* `entry` is NAME=VALUE; the value where its name is `name`, else null. */
static const char* value_of(const char* entry, const char* name) {
  const size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : NULL;
}

static const char* loader_objection(const char* entry) {
  const char* value;
  if ((value = value_of(entry, "LD_PRELOAD")) != NULL) {
    return all_harmless(value) ? NULL : "LD_PRELOAD holds another library";
  }
  if ((value = value_of(entry, "LD_LIBRARY_PATH")) != NULL) {
    return replaces_engine_library(value) ? "LD_LIBRARY_PATH replaces a library" : NULL;
  }
  if (value_of(entry, "LD_BIND_NOW") != NULL) return NULL;
  return "an LD_ variable asks for more";
}

static const char* entry_objection(const char* entry, const struct identity* identity) {
  if (strncmp(entry, "LD_", 3) == 0) return loader_objection(entry);
  if (strncmp(entry, "MALLOC_", 7) == 0) {
    /* The others (MALLOC_ARENA_MAX, …) tune; these three look into the program's own heap. */
    const bool debugging = value_of(entry, "MALLOC_CHECK_") != NULL ||
                           value_of(entry, "MALLOC_PERTURB_") != NULL ||
                           value_of(entry, "MALLOC_TRACE") != NULL;
    return debugging ? "malloc debugging is on" : NULL;
  }
  if (hoist_is_operation(identity->operation, HOIST_SORT) &&
      value_of(entry, "_POSIX2_VERSION") != NULL) {
    return "_POSIX2_VERSION is set";
  }
  if (strcmp(identity->program, "gzip") == 0 && value_of(entry, "GZIP") != NULL) {
    return "GZIP is set";
  }
  return NULL;
}

const char* limits_objection(void) {
  if (hoist_limit_is_below(RLIMIT_STACK, (uint64_t)512 << 10)) return "stack is limited";
  return hoist_has_no_room() ? HOIST_NO_ROOM : NULL;
}

const char* environment_objection(const struct identity* identity) {
  for (char** entry = environ; entry != NULL && *entry != NULL; ++entry) {
    const char* reason = entry_objection(*entry, identity);
    if (reason != NULL) return reason;
  }
  return limits_objection();
}
