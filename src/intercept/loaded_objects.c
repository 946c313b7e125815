/* dl_iterate_phdr(), so that programs with AddressSanitizer start.
 *
 * Before anything else runs, its run-time library looks at the list of what is loaded and ends the
 * process if a library comes before it, for that might hide functions that it replaces. LD_PRELOAD
 * puts us there. Ours hide nothing from it: with such a run-time system in the process each of them
 * goes on to the next of its name, which is the sanitizer's (watching_tool.h). So that one look
 * does not see us. Every later one does, and so does everybody else's. */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "intercept/loaded_symbols.h"

typedef int visitor(struct dl_phdr_info*, size_t, void*);
typedef int iterate_function(visitor*, void*);

static void* original;

/* Constructors run after the sanitizer's look, which it takes from DT_PREINIT_ARRAY. */
static bool started;

__attribute__((constructor)) static void note_start(void) { started = true; }

static iterate_function* find_original(void) {
  static const char kName[] = "dl_iterate_phdr";
  void* known = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (known == NULL) {
    known = find_initial_symbol(kName);
    if (known == NULL) known = dlsym(RTLD_NEXT, kName);
    __atomic_store_n(&original, known, __ATOMIC_RELAXED);
  }
  return (iterate_function*)known;
}

struct visit {
  visitor* visitor;
  void* context;
};

/* Also libhoist_preload_NAME.so. The C library's functions for this may be the sanitizer's, which
 * has not started yet. */
static bool is_ours(const char* path) {
  static const char kOurs[] = "libhoist_preload";
  enum { kLength = sizeof kOurs - 1, kOther };
  size_t matched = 0; /* characters of the name's last part so far; kOther: it is another name */
  for (; *path != '\0'; ++path) {
    if (*path == '/') {
      matched = 0;
    } else if (matched < kLength) {
      matched = *path == kOurs[matched] ? matched + 1 : kOther;
    }
  }
  return matched == kLength;
}

static int visit_others(struct dl_phdr_info* object, size_t size, void* context) {
  const struct visit* visit = context;
  return is_ours(object->dlpi_name) ? 0 : visit->visitor(object, size, visit->context);
}

static bool is_sanitizers_look(const void* caller) {
  static bool asking; /* is_defined_beside() comes by here itself */
  if (started || asking) return false;
  asking = true;
  const bool is_sanitizers = is_defined_beside(caller, "__asan_init");
  asking = false;
  return is_sanitizers;
}

__attribute__((visibility("default"))) int dl_iterate_phdr(visitor* callback, void* data) {
  iterate_function* const iterate = find_original();
  if (!is_sanitizers_look(__builtin_return_address(0))) return iterate(callback, data);
  struct visit visit = {callback, data};
  return iterate(visit_others, &visit);
}
