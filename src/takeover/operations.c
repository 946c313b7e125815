#include "takeover/operations.h"

#include <string.h>

#define HOIST_DEFAULT_ON true
#define HOIST_DEFAULT_ON_REQUEST false

const struct hoist_operation hoist_operations[HOIST_OPERATIONS] = {
#define HOIST_OPERATION(id, name, way, by_default, trouble) \
  [HOIST_##id] = {name, HOIST_WAY_##way, HOIST_DEFAULT_##by_default, trouble},
#include "takeover/operations.def"
};

enum hoist_operation_id hoist_find_operation(const char* name, size_t length) {
  for (int id = 0; id < HOIST_OPERATIONS; ++id) {
    const char* known = hoist_operations[id].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) {
      return (enum hoist_operation_id)id;
    }
  }
  return HOIST_OPERATIONS;
}

bool hoist_is_operation(const char* name, enum hoist_operation_id id) {
  return name != NULL && strcmp(hoist_operations[id].name, name) == 0;
}

bool hoist_next_operation(const char** at, struct hoist_listed_operation* operation) {
  *at += strspn(*at, ",");
  if (**at == '\0') return false;
  operation->sign = **at == '+' || **at == '-' ? *(*at)++ : '\0';
  operation->name = *at;
  operation->length = strcspn(*at, ",");
  operation->id = hoist_find_operation(operation->name, operation->length);
  *at += operation->length;
  return true;
}

bool hoist_list_enables(const char* list, enum hoist_operation_id id, bool on_by_default) {
  bool enabled = on_by_default;
  bool listed_only = false;
  struct hoist_listed_operation word;
  while (list != NULL && hoist_next_operation(&list, &word)) {
    if (word.id == HOIST_OPERATIONS) continue;
    if (word.sign == '\0' && !listed_only) {
      listed_only = true;
      enabled = false;
    }
    if (word.id == id) enabled = word.sign != '-';
  }
  return enabled;
}
