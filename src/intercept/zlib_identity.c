#include "intercept/zlib_identity.h"

#include <stddef.h>

#include "intercept/loaded_symbols.h"

static bool is_self_bound(const void* function, const char* name) {
  return is_defined_beside(function, "zlibVersion") &&
         (name == NULL || !is_referred_to_beside(function, name));
}

bool is_self_bound_zlibs(const void* function, const char* name, struct zlib_identity* identity) {
  if (__atomic_load_n(&identity->zlibs, __ATOMIC_RELAXED) == function) return true;
  if (__atomic_load_n(&identity->foreign, __ATOMIC_RELAXED) == function) return false;
  const bool is_it = is_self_bound(function, name);
  __atomic_store_n(is_it ? &identity->zlibs : &identity->foreign, function, __ATOMIC_RELAXED);
  return is_it;
}

bool is_zlibs(const void* function, struct zlib_identity* identity) {
  return is_self_bound_zlibs(function, NULL, identity);
}
