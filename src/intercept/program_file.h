/* Recognising a program by its file, before it is started. */
#ifndef HOIST_INTERCEPT_PROGRAM_FILE_H
#define HOIST_INTERCEPT_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "intercept/preload.h"

/* The program that execvp() would start for `name`, where that is a build of the compiled-in table
 * (takeover/programs.h) under its own name: its file, all links resolved, and `identity` filled.
 * False for others, and where starting it would raise privileges. */
bool recognise_file(const char* name, char path[PATH_MAX], struct identity* identity);

#endif
