/* Reading GNU build-id notes. */
#ifndef HOIST_BASE_BUILD_ID_H
#define HOIST_BASE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOIST_BUILD_ID_HEX = 41 }; /* 20 bytes (the linkers' default, SHA-1) in hex, and NUL */

/* Searches the notes of one PT_NOTE segment with alignment 4 or 8 for NT_GNU_BUILD_ID and writes it
 * as lower-case hex. False where there is none of 20 bytes or less. `notes` is untrusted. */
bool hoist_build_id_in_notes(const void* notes, size_t size, size_t alignment,
                             char hex[HOIST_BUILD_ID_HEX]);

#ifdef __cplusplus
}
#endif

#endif
