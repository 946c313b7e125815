#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "intercept/record.h"

/* The lock that base/spin_lock.h takes in other processes: its word holds the owner's pid. Given up
 * after a while, where the owner was killed or is stopped. */
static bool lock_names(uint32_t* lock) {
  enum { kTries = 1000 };
  for (int i = 0; i < kTries; ++i) {
    uint32_t expected = 0;
    if (__atomic_compare_exchange_n(lock, &expected, (uint32_t)getpid(), false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return true;
    }
    sched_yield();
  }
  return false;
}

static void unlock_names(uint32_t* lock) { __atomic_store_n(lock, 0u, __ATOMIC_RELEASE); }

/* A table of slots of `stride` bytes, whose name of `name_size` bytes lies at `names` in the first
 * one. Names that are in the table stay, so that finding one takes no lock. */
struct name_table {
  char* names;
  size_t stride;
  size_t name_size;
  uint32_t* count;
  uint32_t most;
  uint32_t* lock;
};

/* The index of `name`, or -1. */
static int find_name(const struct name_table* table, const char* name) {
  const uint32_t count = __atomic_load_n(table->count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count && i < table->most; ++i) {
    const char* known = table->names + i * table->stride;
    if (strncmp(known, name, table->name_size - 1) == 0) return (int)i;
  }
  return -1;
}

/* The same, added where there is room. */
static int find_or_add_name(const struct name_table* table, const char* name) {
  int index = find_name(table, name);
  if (index >= 0 || !lock_names(table->lock)) return index;
  index = find_name(table, name);
  const uint32_t count = __atomic_load_n(table->count, __ATOMIC_ACQUIRE);
  if (index < 0 && count < table->most) {
    snprintf(table->names + count * table->stride, table->name_size, "%s", name);
    __atomic_store_n(table->count, count + 1, __ATOMIC_RELEASE);
    index = (int)count;
  }
  unlock_names(table->lock);
  return index;
}

static void count_passed(struct hoist_counters* counters, const char* operation,
                         const char* reason) {
  const struct name_table operations = {counters->operations[0].name,
                                        sizeof counters->operations[0],
                                        sizeof counters->operations[0].name,
                                        &counters->operation_count,
                                        HOIST_MAX_OPERATIONS,
                                        &counters->lock};
  const int at = find_or_add_name(&operations, operation);
  if (at < 0) return;
  struct hoist_operation_slot* slot = &counters->operations[at];
  const struct name_table reasons = {
      slot->passed[0].reason, sizeof slot->passed[0], sizeof slot->passed[0].reason,
      &slot->passed_count,    HOIST_MAX_REASONS,      &slot->lock};
  const int index = find_or_add_name(&reasons, reason);
  if (index >= 0) __atomic_fetch_add(&slot->passed[index].count, 1, __ATOMIC_RELAXED);
}

void record_passed(const char* path, const char* operation, const char* reason) {
  struct mapped_counters mapped;
  if (!map_counters(path, &mapped)) return;
  count_passed(mapped.counters, operation, reason);
  unmap_counters(&mapped);
}
