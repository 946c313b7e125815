#include "intercept/jump.h"

#include <stddef.h>
#include <zlib.h>

#include "intercept/caller_scope.h"

static int absent(void) { return Z_STREAM_ERROR; }

void* jump_original(struct jump* jump, const void* caller) {
  void* original = original_for_caller(&jump->original, jump->name, "libz.so.1", caller);
  return original != NULL ? original : (void*)absent;
}

void* jump_target(struct jump* jump, const void* caller) {
  void* original = jump_original(jump, caller);
  return is_self_bound_zlibs(original, jump->within, &jump->identity) ? jump->ours : original;
}
