/* The table of operations (operations.def), and lists of operations as HOIST_OPS holds them: NAME,…
 * only these; +NAME or -NAME adds one to the defaults or removes it. A word that names no operation
 * counts as if it were not there. In C, for the preload library; enabled_operations.h has it for
 * C++. */
#ifndef HOIST_TAKEOVER_OPERATIONS_H
#define HOIST_TAKEOVER_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hoist_operation_id {
#define HOIST_OPERATION(id, name, way, by_default, trouble) HOIST_##id,
#include "takeover/operations.def"
  HOIST_OPERATIONS
};

enum hoist_operation_way { HOIST_WAY_PROGRAM, HOIST_WAY_CALLS, HOIST_WAY_PROVIDER };

struct hoist_operation {
  const char* name;
  enum hoist_operation_way way;
  bool is_on_by_default;
  int trouble; /* exit status of its programs where they cannot do their work */
};

extern const struct hoist_operation hoist_operations[HOIST_OPERATIONS];

/* HOIST_OPERATIONS: none is called so. */
enum hoist_operation_id hoist_find_operation(const char* name, size_t length);
/* Whether `name`, which may be null, is that operation's. */
bool hoist_is_operation(const char* name, enum hoist_operation_id id);

struct hoist_listed_operation {
  char sign; /* '+', '-' or 0 */
  const char* name;
  size_t length;
  enum hoist_operation_id id; /* HOIST_OPERATIONS: unknown */
};

/* Takes the next word off the list at `*at`; false at its end. Empty words are left out. */
bool hoist_next_operation(const char** at, struct hoist_listed_operation* operation);

/* Whether the operation is on. `list` may be null. An operation of two halves may have one that is
 * not on by default: `on_by_default` says so. */
bool hoist_list_enables(const char* list, enum hoist_operation_id id, bool on_by_default);

#ifdef __cplusplus
}
#endif

#endif
