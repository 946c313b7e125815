/* Contexts of libzstd that hold more than a fresh one does: dictionaries, prefixes, promised sizes.
 * None of it can be read from outside, so whatever sets it is noted here (zstd_setters.c), and such
 * contexts are libzstd's for ever. One that is freed stays noted: another at its address loses
 * speed, not correctness. */
#ifndef HOIST_INTERCEPT_ZSTD_CONTEXTS_H
#define HOIST_INTERCEPT_ZSTD_CONTEXTS_H

#include <stdbool.h>

/* Any thread may call both. */
void note_special_context(const void* context);
bool is_special_context(const void* context);

#endif
