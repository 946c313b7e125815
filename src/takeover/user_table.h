/* The user's own table of builds, beside the compiled-in one: $XDG_DATA_HOME/hoist/programs or
 * ~/.local/share/hoist/programs, written by `hoist learn-program`. One build a line:
 *
 *   BUILD_ID PROGRAM PACKAGE VERSION
 *
 * Lines that are not of this form are ignored. The file counts only where it belongs to the
 * effective user and nobody else may write it. */
#ifndef HOIST_TAKEOVER_USER_TABLE_H
#define HOIST_TAKEOVER_USER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/build_id.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hoist_user_build {
  char build_id[HOIST_BUILD_ID_HEX];
  char program[16];
  char package[16];
  char version[32];
};

/* False where neither variable says where the table is. */
bool hoist_user_table_path(char* path, size_t size);

/* Whether one line (ended by NUL or newline) is a build of a program that Hoist knows. */
bool hoist_parse_user_build(const char* line, struct hoist_user_build* build);

/* Finds `build_id` in the user's table. */
bool hoist_find_user_build(const char* build_id, struct hoist_user_build* build);

#ifdef __cplusplus
}
#endif

#endif
