/* What placement decided for whole programs, in a form that costs a starting program next to
 * nothing: from how many bytes of input on which implementation is ahead. Plain C without
 * allocation, because the preload library asks inside other people's processes; the engines ask
 * the same.
 *
 *   struct hoist_decisions decisions;
 *   hoist_load_decisions(&decisions);
 *   switch (hoist_decide(&decisions, "hash/sha256sum", cpus, bytes)) …
 *
 * The answer comes from the file `decisions`, which `hoist tune` derives from the profile and
 * writes beside it, where that file holds for this machine and version; else from compiled-in,
 * conservative rows. The file is $XDG_CACHE_HOME/hoist/decisions, or ~/.cache/hoist/decisions, or
 * under HOIST_PROFILE=FILE the file FILE.decisions:
 *
 *   hoist-decisions 1 5f0c9d3a77e1b204
 *   sort/C cpus=1 0 original 1048576 cpu-1
 *   sort/C cpus=2 0 original 524288 cpu-1 2097152 cpu-all
 *
 * The first line holds the format's version and hoist_machine_key(). A row is an operation with its
 * variant, the number of CPUs that it was made for, and pairs of a size in bytes and what runs from
 * that size on, ascending from 0. For a number of CPUs that has no row the one for the next smaller
 * number counts. A file with a line of another form is ignored as a whole.
 *
 * A row named NAME+hoistd says what runs best while a hoistd answers, which spares a program the
 * opening of a GPU; where there is none the plain row holds in either case. hoist_break_even() of
 * the plain name, by which programs are taken over, knows nothing of it: all CPUs are ahead of the
 * original long before any GPU is.
 *
 * The file counts only where it is a regular file (no symbolic link) that belongs to the effective
 * user and that nobody else may write, and never in a program with raised privileges (AT_SECURE).
 *
 * All functions may be called from several threads; errno may change. */
#ifndef HOIST_TAKEOVER_DECISIONS_H
#define HOIST_TAKEOVER_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOIST_WITH_HOISTD "+hoistd" /* behind the name of a row */

enum {
  HOIST_DECISIONS_LIMIT = 16 * 1024, /* bytes of the file */
  HOIST_MOST_INTERVALS = 16,         /* of a row */
};

enum hoist_choice {
  HOIST_CHOICE_UNKNOWN, /* no row about that operation and variant */
  HOIST_CHOICE_ORIGINAL,
  HOIST_CHOICE_CPU_1,
  HOIST_CHOICE_CPU_ALL,
  HOIST_CHOICE_CUDA,   /* a GPU, and all CPUs for the rest */
  HOIST_CHOICE_HOISTD, /* the same, where the GPU is a hoistd's */
};

struct hoist_decisions {
  size_t size; /* of the file's text; 0: none, compiled-in rows alone */
  char text[HOIST_DECISIONS_LIMIT + 1];
};

/* "original", "cpu-1", "cpu-all", "cuda", "hoistd"; "unknown" for anything else. */
const char* hoist_choice_name(enum hoist_choice choice);

/* Hash of the CPU's model and Hoist's version: a measurement counts only where both are the same.
 * FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/). */
uint64_t hoist_machine_key(void);

/* Where the file is. False where the environment does not say, or must not be asked (AT_SECURE). */
bool hoist_decisions_path(char* path, size_t size);

/* Reads the file. True where it counts; else only the compiled-in rows will answer. */
bool hoist_load_decisions(struct hoist_decisions* decisions);

/* The same from memory, whatever is in it. False, and `decisions` without a text, where the text is
 * not wholly of the form above or its key is not `key`. */
bool hoist_parse_decisions(struct hoist_decisions* decisions, const char* text, size_t size,
                           uint64_t key);

/* What runs `bytes` of input best with `cpus` usable CPUs. `name` is OPERATION/VARIANT. Never
 * HOIST_CHOICE_CPU_ALL where `cpus` is 1 or less. */
enum hoist_choice hoist_decide(const struct hoist_decisions* decisions, const char* name, int cpus,
                               uint64_t bytes);

/* The least number of bytes that something else than the original runs; UINT64_MAX: it runs all,
 * or nothing is known about `name`. */
uint64_t hoist_break_even(const struct hoist_decisions* decisions, const char* name, int cpus);

/* Whether hoist_decide() answers about `name` from the file rather than from compiled-in rows. */
bool hoist_is_measured(const struct hoist_decisions* decisions, const char* name, int cpus);

/* `choice` from `from` bytes on, up to the next interval of the row. */
struct hoist_interval {
  uint64_t from;
  enum hoist_choice choice;
};

/* The row that hoist_decide() uses, at most HOIST_MOST_INTERVALS of it; the count, or 0 where
 * nothing is known about `name`. */
size_t hoist_find_row(const struct hoist_decisions* decisions, const char* name, int cpus,
                      struct hoist_interval* intervals);

/* Writers, for `hoist tune`: each puts one line (NUL after it) into `text` and returns its length;
 * 0 where `size` is too small. The lines one after another are a file's text. */
size_t hoist_format_decisions_head(char* text, size_t size, uint64_t key);
size_t hoist_format_decisions_row(char* text, size_t size, const char* name, int cpus,
                                  const struct hoist_interval* intervals, size_t count);

#ifdef __cplusplus
}
#endif

#endif
