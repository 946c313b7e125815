#include "intercept/restriction.h"

static bool restricted;

bool is_restricted(void) { return __atomic_load_n(&restricted, __ATOMIC_RELAXED); }

void note_restriction(void) { __atomic_store_n(&restricted, true, __ATOMIC_RELAXED); }
