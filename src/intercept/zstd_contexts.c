#include "intercept/zstd_contexts.h"

#include <stddef.h>

/* Where a program has more of them, all its contexts count as special. */
enum { kMostContexts = 64 };

static const void* special[kMostContexts]; /* filled from the front; null: the end */
static bool all_special;

bool is_special_context(const void* context) {
  for (size_t i = 0; i < kMostContexts; ++i) {
    const void* known = __atomic_load_n(&special[i], __ATOMIC_ACQUIRE);
    if (known == context) return true;
    if (known == NULL) break;
  }
  return __atomic_load_n(&all_special, __ATOMIC_ACQUIRE);
}

void note_special_context(const void* context) {
  for (size_t i = 0; i < kMostContexts; ++i) {
    const void* known = NULL;
    if (__atomic_compare_exchange_n(&special[i], &known, context, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) ||
        known == context) {
      return;
    }
  }
  __atomic_store_n(&all_special, true, __ATOMIC_RELEASE);
}
