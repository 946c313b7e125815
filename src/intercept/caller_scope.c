#include "intercept/caller_scope.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "intercept/loaded_symbols.h"
#include "intercept/rarely_touched.h"
#include "intercept/restriction.h"

/* Places of calls and what they lead to, never forgotten. Where the table is full, further places
 * look each time. */
enum { kPlaces = 1024, kProbes = 8 };

struct place {
  const void* caller; /* written last */
  const char* name;
  void* function;
  struct object_mark mark; /* of what holds it, which may be unloaded; none: it is kept loaded */
};

static struct place places[kPlaces] RARELY_TOUCHED;

static struct place* place_at(const void* caller, const char* name, size_t probe) {
  return &places[((uintptr_t)caller ^ (uintptr_t)name * 31) % (kPlaces - kProbes) + probe];
}

/* False where something else may have been loaded to its place. */
static bool is_still_there(const struct place* place) {
  if (place->mark.begin == NULL) return true;
  const struct object_mark now = mark_of_object(place->function);
  return now.begin == place->mark.begin && now.end == place->mark.end &&
         now.unwinding == place->mark.unwinding;
}

static void* kept_function(const void* caller, const char* name) {
  for (size_t probe = 0; probe < kProbes; ++probe) {
    const struct place* place = place_at(caller, name, probe);
    const void* known = __atomic_load_n(&place->caller, __ATOMIC_ACQUIRE);
    if (known == caller && place->name == name && is_still_there(place)) return place->function;
    if (known == NULL) break;
  }
  return NULL;
}

static void keep(const void* caller, const char* name, void* function, struct object_mark mark) {
  static bool writing;
  if (__atomic_test_and_set(&writing, __ATOMIC_ACQUIRE)) return; /* the next call keeps it */
  for (size_t probe = 0; probe < kProbes; ++probe) {
    struct place* place = place_at(caller, name, probe);
    if (place->caller != NULL) continue;
    place->name = name;
    place->function = function;
    place->mark = mark;
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

/* Looks in every library: a call that was a function's last act returns to somewhere else. */
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

static const struct object_mark kUnmarked;

/* By the dynamic linker. */
static void* ask_linker(void** slot, const char* name, const char* library, const void* caller) {
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
  if (function != NULL) keep(caller, name, function, kUnmarked);
  return function;
}

extern const char* zlibVersion(void) __attribute__((weak));
extern unsigned ZSTD_versionNumber(void) __attribute__((weak));

/* Libraries, and by which name of their own each is known. */
struct library {
  const char* soname;
  const char* own;
  const void* linked;        /* what the global scope had for that name from the start on */
  struct object_mark global; /* the copy that the global scope leads to, from the start on */
  bool missing;
};

static struct library libraries[] = {
    {.soname = "libz.so.1", .own = "zlibVersion", .linked = (const void*)zlibVersion},
    {.soname = "libzstd.so.1",
     .own = "ZSTD_versionNumber",
     .linked = (const void*)ZSTD_versionNumber}};
enum { kLibraries = sizeof libraries / sizeof *libraries };

/* Nobody waits at this moment, and no message of the program's is pending. */
__attribute__((constructor)) static void note_global_libraries(void) {
  for (size_t i = 0; i < kLibraries; ++i) {
    if (libraries[i].linked == NULL || find_loaded_symbol(libraries[i].own).definitions == 0) {
      continue;
    }
    void* own = dlsym(RTLD_NEXT, libraries[i].own);
    if (own != NULL) libraries[i].global = mark_of_object(own);
    (void)dlerror();
  }
}

/* Whether it lies in a library that the global scope has led to from the start on. */
static bool is_global(const void* function) {
  for (size_t i = 0; i < kLibraries; ++i) {
    const struct object_mark* global = &libraries[i].global;
    if ((uintptr_t)function - (uintptr_t)global->begin <
        (uintptr_t)global->end - (uintptr_t)global->begin) {
      return true;
    }
  }
  return false;
}

/* For who is here by a weak reference, which our own function has made one that leads somewhere:
 * the library that would have been it, where it is installed. */
static void* load_missing(const char* name, const char* soname, const void* caller) {
  struct library* library = NULL;
  for (size_t i = 0; i < kLibraries; ++i) {
    if (strcmp(libraries[i].soname, soname) == 0) library = &libraries[i];
  }
  if (library == NULL || __atomic_load_n(&library->missing, __ATOMIC_RELAXED) || is_restricted() ||
      find_loaded_symbol(library->own).definitions != 0) {
    return NULL;
  }
  void* loaded = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  void* function = loaded != NULL ? dlsym(loaded, name) : NULL;
  (void)dlerror();
  if (loaded == NULL) __atomic_store_n(&library->missing, true, __ATOMIC_RELAXED);
  if (function != NULL) keep(caller, name, function, kUnmarked);
  return function;
}

static __attribute__((noinline)) void* look_up(void** slot, const char* name, const char* library,
                                               const void* caller) {
  const struct loaded_symbol first = find_loaded_symbol(name);
  if (first.definitions == 0) return load_missing(name, library, caller);
  if (first.address != NULL && is_global(first.address)) {
    __atomic_store_n(slot, first.address, __ATOMIC_RELAXED);
    return first.address;
  }
  const struct object_mark mark = mark_of_object(first.address);
  if (first.definitions > 1 || first.address == NULL || mark.begin == NULL) {
    return ask_linker(slot, name, library, caller);
  }
  keep(caller, name, first.address, mark);
  return first.address;
}

void* original_for_caller(void** slot, const char* name, const char* library, const void* caller) {
  void* known = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (known == NULL) known = kept_function(caller, name);
  return known != NULL ? known : look_up(slot, name, library, caller);
}
