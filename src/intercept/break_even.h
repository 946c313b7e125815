/* From how much input on the engine is ahead of the program. */
#ifndef HOIST_INTERCEPT_BREAK_EVEN_H
#define HOIST_INTERCEPT_BREAK_EVEN_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/preload.h"

/* What of the arguments makes a variant of the work whose costs are its own. */
struct usage {
  bool several_inputs;
  bool numeric; /* sort compares numbers */
};

/* In bytes, as placement decided (takeover/decisions.h); UINT64_MAX: the program is always ahead.
 */
uint64_t break_even(const struct identity* identity, const struct usage* usage);

#endif
