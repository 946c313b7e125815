#include "intercept/break_even.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "takeover/decisions.h"
#include "takeover/operations.h"

/* HOIST_THREADS; 0 where it holds no whole number from 1. */
static int wanted_cpus(void) {
  const char* given = getenv("HOIST_THREADS");
  if (given == NULL || strchr(given, '-') != NULL) return 0;
  char* end = NULL;
  const unsigned long long number = strtoull(given, &end, 10);
  if (end[strspn(end, " \t\n")] != '\0') return 0;
  return number < INT_MAX ? (int)number : INT_MAX;
}

/* By affinity and HOIST_THREADS. The engine also asks the control groups for their quota, and goes
 * back where it then decides otherwise. */
static int usable_cpus(void) {
  cpu_set_t set;
  const int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
  const int wanted = wanted_cpus();
  return wanted > 0 && wanted < cpus ? wanted : cpus;
}

/* Whether text is ordered by its bytes: without a call of setlocale(), which may load files. */
static bool collates_by_bytes(void) {
  static const char* const kVariables[] = {"LC_ALL", "LC_COLLATE", "LANG"};
  const char* locale = "";
  for (size_t i = 0; i < sizeof kVariables / sizeof kVariables[0] && locale[0] == '\0'; ++i) {
    const char* value = getenv(kVariables[i]);
    if (value != NULL) locale = value;
  }
  return locale[0] == '\0' || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0 ||
         strncmp(locale, "C.", 2) == 0;
}

uint64_t break_even(const struct identity* identity, const struct usage* usage) {
  char name[64];
  if (hoist_is_operation(identity->operation, HOIST_SORT)) {
    const char* order = usage->numeric ? "numeric" : collates_by_bytes() ? "C" : "locale";
    snprintf(name, sizeof name, "sort/%s", order);
  } else {
    const bool many = hoist_is_operation(identity->operation, HOIST_HASH) && usage->several_inputs;
    snprintf(name, sizeof name, "%s/%s%s", identity->operation, identity->program,
             many ? "-many" : "");
  }
  struct hoist_decisions decisions;
  hoist_load_decisions(&decisions);
  return hoist_break_even(&decisions, name, usable_cpus());
}
