/* Lists of operations, as HOIST_OPS holds them: NAME,… only these; +NAME or -NAME adds one to the
 * defaults or removes it. A word that names no operation counts as if it were not there. In C, for
 * the preload library. */
#ifndef HOIST_BASE_OPERATION_LIST_H
#define HOIST_BASE_OPERATION_LIST_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOIST_OPERATIONS = 11 };
extern const char* const hoist_operation_names[HOIST_OPERATIONS];

struct hoist_listed_operation {
  char sign; /* '+', '-' or 0 */
  const char* name;
  size_t length;
  bool is_known;
};

/* Takes the next word off the list at `*at`; false at its end. Empty words are left out. */
bool hoist_next_operation(const char** at, struct hoist_listed_operation* operation);

/* Whether the operation of that name is on. `list` may be null. */
bool hoist_list_enables(const char* list, const char* name, size_t length, bool on_by_default);

#ifdef __cplusplus
}
#endif

#endif
