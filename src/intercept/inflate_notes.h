/* Streams of zlib's inflate() that were set up through us and not used through us yet.
 *
 * A program may set a stream up by our function and use it by zlib's own: one that looks functions
 * up by dlsym(), as foreign function interfaces do, calls zlib's inflateInit_(), which goes on in
 * inflateInit2_() by the symbol's name. Such a stream must stay as zlib made it. So it is only
 * noted, by the address of zlib's state, and becomes one of ours when the program comes to us with
 * it. */
#ifndef HOIST_INTERCEPT_INFLATE_NOTES_H
#define HOIST_INTERCEPT_INFLATE_NOTES_H

#include <stdbool.h>

/* What inflateInit2() or inflateReset2() was given. Forgets what was noted about a state at this
 * address before. Nothing is noted where there are too many. Any thread may call; a note belongs to
 * whoever may use the stream. */
void note_inflate_state(const void* state, const void* owner, int window_bits);

/* Whether anything was ever noted. Until then, what a function here is given may not even be a
 * stream: libraries have functions of these names that are not zlib's. */
bool any_inflate_notes(void);

/* Changes a note, if there is one. */
void renote_inflate_state(const void* state, const void* owner, int window_bits);

/* Whether there is a note about the state of that stream; it is removed. */
bool take_inflate_note(const void* state, const void* owner, int* window_bits);

#endif
