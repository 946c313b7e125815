/* The settings that the user gave to Hoist, also in programs that empty their environment (nginx's
 * workers) or write over it (whatever changes its title in ps): what switches an operation off must
 * hold for as long as the process lives. */
#ifndef HOIST_INTERCEPT_KEPT_ENVIRONMENT_H
#define HOIST_INTERCEPT_KEPT_ENVIRONMENT_H

#include <stdbool.h>

/* As getenv(); where the program has removed HOIST_*, XDG_CACHE_HOME or HOME since, what it was
 * when the process started, unless it was longer than a path. Exported: the engines of library
 * calls ask it too (base/options.h). */
__attribute__((visibility("default"))) const char* hoist_environment(const char* name);

/* Whether the process was started with any variable HOIST or HOIST_*. */
bool hoist_is_mentioned(void);

#endif
