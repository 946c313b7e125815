#include "intercept/zlib_identity.h"

#include <stddef.h>

#include "intercept/loaded_symbols.h"

static bool is_self_bound(const void* function, const char* name) {
  return is_defined_beside(function, "zlibVersion") &&
         (name == NULL || !is_referred_to_beside(function, name));
}

static uintptr_t object_of(const void* function) {
  const struct object_mark mark = mark_of_object(function);
  return ((uintptr_t)mark.begin * 31 + (uintptr_t)mark.end) * 31 + (uintptr_t)mark.unwinding;
}

static bool is(const void* function, uintptr_t object, const void* const* known,
               const uintptr_t* known_object) {
  return __atomic_load_n(known, __ATOMIC_RELAXED) == function &&
         __atomic_load_n(known_object, __ATOMIC_RELAXED) == object;
}

/* Threads may write at once. A function of one and the object of the other are no harm: whatever
 * lies in that object has the same answer. */
bool is_self_bound_zlibs(const void* function, const char* name, struct zlib_identity* identity) {
  const uintptr_t object = object_of(function);
  if (is(function, object, &identity->zlibs, &identity->zlibs_object)) return true;
  if (is(function, object, &identity->foreign, &identity->foreign_object)) return false;
  const bool is_it = is_self_bound(function, name);
  __atomic_store_n(is_it ? &identity->zlibs : &identity->foreign, function, __ATOMIC_RELAXED);
  __atomic_store_n(is_it ? &identity->zlibs_object : &identity->foreign_object, object,
                   __ATOMIC_RELAXED);
  return is_it;
}

bool is_zlibs(const void* function, struct zlib_identity* identity) {
  return is_self_bound_zlibs(function, NULL, identity);
}
