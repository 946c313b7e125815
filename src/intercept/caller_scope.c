#include "intercept/caller_scope.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places of calls and what they lead to, never forgotten. Where the table is full, further places
 * look each time. */
enum { kPlaces = 1024, kProbes = 8 };

struct place {
  const void* caller; /* written last */
  const char* name;
  void* function;
};

static struct place places[kPlaces];

static struct place* place_at(const void* caller, const char* name, size_t probe) {
  return &places[((uintptr_t)caller ^ (uintptr_t)name * 31) % (kPlaces - kProbes) + probe];
}

static void* kept_function(const void* caller, const char* name) {
  for (size_t probe = 0; probe < kProbes; ++probe) {
    const struct place* place = place_at(caller, name, probe);
    const void* known = __atomic_load_n(&place->caller, __ATOMIC_ACQUIRE);
    if (known == caller && place->name == name) return place->function;
    if (known == NULL) break;
  }
  return NULL;
}

static void keep(const void* caller, const char* name, void* function) {
  static bool writing;
  if (__atomic_test_and_set(&writing, __ATOMIC_ACQUIRE)) return; /* the next call keeps it */
  for (size_t probe = 0; probe < kProbes; ++probe) {
    struct place* place = place_at(caller, name, probe);
    if (place->caller != NULL) continue;
    place->name = name;
    place->function = function;
    __atomic_store_n(&place->caller, caller, __ATOMIC_RELEASE);
    break;
  }
  __atomic_clear(&writing, __ATOMIC_RELEASE);
}

static bool is_own(void* function) {
  Dl_info own;
  Dl_info other;
  return dladdr(&places, &own) != 0 && dladdr(function, &other) != 0 &&
         own.dli_fbase == other.dli_fbase;
}

/* Keeps the library that holds `function` loaded: its address is never forgotten. */
static void pin(void* function) {
  Dl_info holder;
  if (dladdr(function, &holder) != 0) (void)dlopen(holder.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* The function of a library that is loaded, or of one that it needs; null where there is none but
 * ours. */
static void* library_function(const char* path, const char* name) {
  void* library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return NULL;
  void* function = dlsym(library, name);
  if (function != NULL && is_own(function)) function = NULL;
  if (function != NULL) pin(function);
  dlclose(library);
  return function;
}

static void* scope_function(const char* name, const void* caller) {
  Dl_info info;
  struct link_map* map = NULL;
  if (dladdr1(caller, &info, (void**)&map, RTLD_DL_LINKMAP) == 0 || map == NULL) return NULL;
  /* The program has no name: its scope is the global one. */
  return map->l_name[0] != '\0' ? library_function(map->l_name, name) : NULL;
}

enum { kMostLibraries = 512 };

struct libraries {
  size_t count;
  const char* paths[kMostLibraries];
};

static int list_library(struct dl_phdr_info* info, size_t size, void* list) {
  struct libraries* libraries = list;
  if (info->dlpi_name[0] != '\0' && libraries->count < kMostLibraries) {
    libraries->paths[libraries->count++] = info->dlpi_name;
  }
  return 0;
}

/* Of any library: a call that was a function's last act returns to somewhere else. */
static void* anybodys_function(const char* name) {
  struct libraries libraries;
  libraries.count = 0;
  dl_iterate_phdr(list_library, &libraries);
  void* function = NULL;
  for (size_t i = 0; i < libraries.count && function == NULL; ++i) {
    function = library_function(libraries.paths[i], name);
  }
  return function;
}

static __attribute__((noinline)) void* look_up(void** slot, const char* name, const char* library,
                                               const void* caller) {
  void* function = dlsym(RTLD_NEXT, name);
  if (function != NULL) {
    pin(function); /* it may have come by dlopen() with RTLD_GLOBAL */
    __atomic_store_n(slot, function, __ATOMIC_RELAXED);
    return function;
  }
  function = scope_function(name, caller);
  if (function == NULL) function = library_function(library, name);
  if (function == NULL) function = anybodys_function(name);
  (void)dlerror(); /* the next one is to be the program's */
  if (function != NULL) keep(caller, name, function);
  return function;
}

void* original_for_caller(void** slot, const char* name, const char* library, const void* caller) {
  void* known = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (known == NULL) known = kept_function(caller, name);
  return known != NULL ? known : look_up(slot, name, library, caller);
}
