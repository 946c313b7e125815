/* Parts of the preload library, some of which the launcher (launcher.c) shares. It lives in other
 * people's processes: nothing here writes to their streams, keeps memory or descriptors, or changes
 * their state unless it replaces the program. */
#ifndef HOIST_INTERCEPT_PRELOAD_H
#define HOIST_INTERCEPT_PRELOAD_H

#include <stdbool.h>

/* The program that this process runs, where it is one that we know. */
struct identity {
  char program[16];
  char package[16];
  char version[32];
  char operation[16];
};

/* Fills `identity` with what takeover/programs.h says about `program`, which must be there. */
void identify(struct identity* identity, const char* program, const char* version);

/* Fills `identity` for this process; null on success, else why this program is left alone. */
const char* recognise_program(struct identity* identity);

/* The following return null where the program may be replaced, else the reason why not. */
const char* switched_off(const char* operation);                    /* HOIST, HOIST_OPS */
const char* not_requested(const char* operation);                   /* for what is off by default */
const char* limits_objection(void);                                 /* stack and address space */
const char* environment_objection(const struct identity* identity); /* loader, malloc, limits */
const char* arguments_objection(const struct identity* identity, int argc, char** argv);

/* HOIST=off (or 0, false, no), as hoist_is_off() of base/options.h. */
bool hoist_off(void);

/* Adds a program slot to the segment at `path`; silent on any failure. */
void record_program(const char* path, char** argv, const char* reason);

#endif
