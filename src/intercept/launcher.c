/* bin/hoist: starts programs with the preload library at once, and leaves all else to the command
 * line, PREFIX/libexec/hoist/hoist-command-line.
 *
 * `hoist run -- PROGRAM` stands before programs that take a millisecond themselves, so the plain
 * case must not load what options, messages and JSON need. Plain means: no option, no variable that
 * `hoist run` would have to look into (HOIST_STATS, HOIST_OPS, another LD_PRELOAD), a tree whose
 * path LD_PRELOAD can hold, and a program that starts. In every other case the command line gets
 * the arguments and the environment as they came and does all of it, messages included.
 *
 * A program that the preload library would replace as soon as it has started is not started at all:
 * its engine is. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "base/counters_layout.h"
#include "base/limits.h"
#include "intercept/preload.h"
#include "intercept/program_file.h"
#include "placement/timings_file.h"
#include "takeover/decisions.h"
#include "takeover/gpu_hint.h"

extern char** environ;

/* The paths below are static: the stack may be as small as a shell function of `ulimit -s` makes
 * it, and the program that we start content with that. */

/* PREFIX for PREFIX/bin/hoist. */
static bool find_prefix(char prefix[PATH_MAX]) {
  const ssize_t length = readlink("/proc/self/exe", prefix, PATH_MAX - 1);
  if (length >= PATH_MAX - 1) return false;
  if (length > 0) {
    prefix[length] = '\0';
  } else if (realpath((const char*)getauxval(AT_EXECFN), prefix) == NULL) { /* without /proc */
    return false;
  }
  for (int level = 0; level < 2; ++level) {
    char* slash = strrchr(prefix, '/');
    if (slash == NULL) return false;
    *slash = '\0';
  }
  return true;
}

/* False where the path does not fit. */
__attribute__((format(printf, 2, 3))) static bool join(char path[PATH_MAX], const char* format,
                                                       ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(path, PATH_MAX, format, arguments);
  va_end(arguments);
  return length > 0 && length < PATH_MAX;
}

static int command_line(const char* prefix, char** argv) {
  static char path[PATH_MAX];
  errno = ENAMETOOLONG;
  if (join(path, "%s/libexec/hoist/hoist-command-line", prefix)) execv(path, argv);
  const bool too_long = errno == E2BIG;
  fprintf(stderr, "hoist: error: cannot start the command line (%s: %s): %s\n", path,
          strerror(errno), too_long ? "give fewer arguments" : "install Hoist whole");
  return too_long ? 1 : 3;
}

/* PROGRAM ARGS… of `hoist run [--] PROGRAM ARGS…`, null for everything else. */
static char** program_of(int argc, char** argv) {
  if (argc < 3 || strcmp(argv[1], "run") != 0) return NULL;
  char** program = strcmp(argv[2], "--") == 0 ? argv + 3 : argv + 2;
  return program[0] != NULL && (program == argv + 3 || program[0][0] != '-') ? program : NULL;
}

static bool is_set(const char* name) {
  const char* value = getenv(name);
  return value != NULL && value[0] != '\0';
}

/* Whether `library` leads to the preload library of this tree; only the dynamic linker knows what
 * it makes of $LIB (see src/cli/tree.h). */
static bool loads_ours(const char* library, const char* prefix) {
  static char ours[PATH_MAX];
  if (!join(ours, "%s/lib/libhoist_preload.so", prefix)) return false;
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  struct link_map* loaded = NULL;
  struct stat a;
  struct stat b;
  return handle != NULL && dlinfo(handle, RTLD_DI_LINKMAP, &loaded) == 0 &&
         stat(loaded->l_name, &a) == 0 && stat(ours, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

/* The environment with `count` entries more, in place of those of the same names. */
static char** extended_environment(char** entries, size_t count) {
  size_t size = 0;
  while (environ[size] != NULL) ++size;
  char** extended = malloc((size + count + 1) * sizeof *extended);
  if (extended == NULL) return NULL;
  memcpy(extended, entries, count * sizeof *extended);
  size_t at = count;
  for (size_t i = 0; i < size; ++i) {
    bool replaced = false;
    for (size_t k = 0; k < count; ++k) {
      const size_t name = strcspn(entries[k], "=") + 1;
      replaced |= strncmp(environ[i], entries[k], name) == 0;
    }
    if (!replaced) extended[at++] = environ[i];
  }
  extended[at] = NULL;
  return extended;
}

/* Starts the engine that replaces the program, or the program itself with a word to the preload
 * library that it has been looked at. Returns where the program is not known, so that the preload
 * library is to look at it, or could not be started. */
static void start_known(const char* prefix, int argc, char** argv, char* preload) {
  struct identity identity;
  static char original[PATH_MAX];
  /* Privileges that were raised before us reach the program, which runs untouched then. */
  if (getauxval(AT_SECURE) != 0) return;
  /* Where somebody counts, the preload library records what is left alone. */
  if (getenv(HOIST_COUNTERS_ENV) != NULL || getenv(HOIST_TAKEOVER_ENV) != NULL) return;
  if (limits_objection() != NULL || !recognise_file(argv[0], original, &identity)) return;
  const char* reason = switched_off(identity.operation);
  if (reason == NULL) reason = environment_objection(&identity);
  if (reason == NULL && hoist_call_filter() == HOIST_OWN_FILTER) reason = HOIST_FILTERED;
  if (reason == NULL) reason = arguments_objection(&identity, argc, argv);
  static char word[PATH_MAX + 128];
  static char path[PATH_MAX];
  if (reason == NULL) {
    snprintf(word, sizeof word, "%s=%s:%s:%s:%s", HOIST_TAKEOVER_ENV, identity.program,
             identity.package, identity.version, original);
    if (!join(path, "%s/libexec/hoist/hoist-%s", prefix, identity.operation)) return;
  } else {
    snprintf(word, sizeof word, "%s=%d", HOIST_SKIP_ENV, (int)getpid());
    memcpy(path, original, sizeof path);
  }
  char* entries[] = {preload, word, HOIST_RECOGNISED_ENV "=1"};
  char** environment = extended_environment(entries, reason == NULL ? 3 : 2);
  if (environment != NULL) execve(path, argv, environment);
  free(environment);
}

static void start(const char* prefix, int argc, char** argv) {
  if (hoist_off() || hoist_has_no_room()) {
    execvp(argv[0], argv);
    return;
  }
  const char* name = "LD_PRELOAD=";
  static char library[PATH_MAX];
  static char preload[2 * PATH_MAX];
  if (!join(library, "%s/lib/hoist/$LIB/libhoist_preload.so", prefix)) return;
  int length = snprintf(preload, sizeof preload, "%s%s", name, library);
  if (hoist_gpu_may_serve()) {
    snprintf(preload + length, sizeof preload - (size_t)length,
             ":%s/lib/hoist/$LIB/libhoist_preload_blas.so", prefix);
  }
  const char* given = getenv("LD_PRELOAD");
  if (given != NULL && given[0] != '\0' && strcmp(given, preload + strlen(name)) != 0) return;
  if (!loads_ours(library, prefix)) return;
  start_known(prefix, argc, argv, preload);
  char* entries[] = {preload};
  char** environment = extended_environment(entries, 1);
  if (environment != NULL) execvpe(argv[0], argv, environment);
  /* What the kernel takes of arguments and environment may be just enough without our entry. */
  if (environment != NULL && errno == E2BIG) execvp(argv[0], argv);
  free(environment);
}

/* Whether so many timings of real runs wait beside the decisions that the command line should fold
 * them into the profile first. */
static bool refinement_is_due(void) {
  static const char kTail[] = "decisions";
  enum { kWorthFolding = HOIST_TIMINGS_WORTH_FOLDING * HOIST_TIMING_BYTES };
  static char path[PATH_MAX];
  if (!hoist_decisions_path(path, sizeof path)) return false;
  memcpy(path + strlen(path) - strlen(kTail), HOIST_TIMINGS_NAME, sizeof HOIST_TIMINGS_NAME);
  struct stat info;
  return stat(path, &info) == 0 && info.st_size >= kWorthFolding;
}

/* PROGRAM ARGS… behind options, cut as split_program() of src/cli/command_line.cc cuts them. */
static char** program_behind_options(char** argv) {
  if (argv[1] == NULL || strcmp(argv[1], "run") != 0) return NULL;
  char** word = argv + 2;
  while (word[0] != NULL && word[0][0] == '-' && strcmp(word[0], "--") != 0) {
    const bool takes_next = strcmp(word[0], "--ops") == 0 || strcmp(word[0], "--verify") == 0;
    word += takes_next && word[1] != NULL ? 2 : 1;
  }
  if (word[0] != NULL && strcmp(word[0], "--") == 0) ++word;
  return word[0] != NULL ? word : NULL;
}

/* Where the command line itself could not be loaded the program runs alone, whatever was asked for.
 * Returns where it cannot be started. */
static void start_alone(char** argv, char** program) {
  bool watched = getenv("HOIST_STATS") != NULL;
  for (char** word = argv + 2; word < program; ++word) {
    watched |=
        strncmp(*word, "--", 2) == 0 && (*word)[2] != '\0' && strncmp(*word, "--ops", 5) != 0;
  }
  if (watched) fputs("hoist: warning: nothing is counted: " HOIST_NO_ROOM "\n", stderr);
  execvp(program[0], program);
}

int main(int argc, char** argv) {
  static char prefix[PATH_MAX];
  if (!find_prefix(prefix)) {
    fputs("hoist: error: cannot find itself (/proc/self/exe): mount /proc\n", stderr);
    return 3;
  }
  char** program = program_of(argc, argv);
  const bool is_plain = program != NULL && getenv("HOIST_STATS") == NULL && !is_set("HOIST_OPS") &&
                        strpbrk(prefix, " :$") == NULL && !refinement_is_due();
  if (is_plain) start(prefix, argc - (int)(program - argv), program);
  const uint64_t kCommandLine = (uint64_t)16 << 20; /* what it takes, doubled */
  char** behind = program_behind_options(argv);
  if (behind != NULL && hoist_limit_is_below(RLIMIT_AS, kCommandLine)) start_alone(argv, behind);
  return command_line(prefix, argv);
}
