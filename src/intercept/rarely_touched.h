/* Tables of some size, most of which most processes never touch. In .bss, which is memory beyond
 * the file's, they would cost every start a system call and a mapping; as zeros in the file,
 * nothing. */
#ifndef HOIST_INTERCEPT_RARELY_TOUCHED_H
#define HOIST_INTERCEPT_RARELY_TOUCHED_H

#define RARELY_TOUCHED __attribute__((section("rarely_touched")))

#endif
