/* How much input a program is about to read, as far as that is known without reading any. */
#ifndef HOIST_INTERCEPT_INPUTS_H
#define HOIST_INTERCEPT_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

struct inputs {
  uint64_t bytes; /* in the regular files named so far */
  int operands;   /* named so far, standard input included */
  bool standard_input;
  bool unbounded; /* something that is not a regular file, or a list of further names */
};

/* Adds one operand; "-" is standard input. A file that is missing counts as empty: the program
 * will only complain about it. `suffix` is what the program may append to the name, or null. */
void add_operand(struct inputs* inputs, const char* path, const char* suffix);

/* Null where the input may be at least `threshold` bytes, else why the program is left alone. A
 * threshold of UINT64_MAX is never reached. Waits at most 3 ms for a pipe on standard input to show
 * how much it has. */
const char* small_input(struct inputs* inputs, uint64_t threshold);

#endif
