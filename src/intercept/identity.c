#include <stdio.h>

#include "intercept/preload.h"
#include "takeover/programs.h"

void identify(struct identity* identity, const char* program, const char* version) {
  const struct hoist_program* known = hoist_find_program(program);
  snprintf(identity->program, sizeof identity->program, "%s", program);
  snprintf(identity->package, sizeof identity->package, "%s", known->package);
  snprintf(identity->version, sizeof identity->version, "%s", version);
  snprintf(identity->operation, sizeof identity->operation, "%s",
           hoist_operations[known->operation].name);
}
