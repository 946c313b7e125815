/* Runs a program and says what it took, of itself and not of whoever measures it.
 *
 *   timed_run RESULT PROGRAM [ARGUMENT…]
 *
 * RESULT, a file, gets one line: seconds, seconds of CPU time, peak resident KiB, status as waitpid
 * gives it. The peak of a process begins with what its parent had when it started it: an
 * interpreter that measures would hide what a small program needs behind its own tens of megabytes,
 * and this program, which has less than any it starts, does not. Exit status 0; 1 where RESULT
 * cannot be written, 2 for wrong usage, 127 where PROGRAM cannot be started. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double seconds_of(struct timeval time) {
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fputs("usage: timed_run RESULT PROGRAM [ARGUMENT…]\n", stderr);
    return 2;
  }
  pid_t child;
  const double start = now();
  const int error = posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ);
  if (error != 0) {
    fprintf(stderr, "timed_run: cannot start %s: %s\n", argv[2], strerror(error));
    return 127;
  }
  int status;
  struct rusage used;
  while (wait4(child, &status, 0, &used) < 0) {
    if (errno != EINTR) return 1;
  }
  const double seconds = now() - start;
  FILE* result = fopen(argv[1], "w");
  if (result == NULL) {
    fprintf(stderr, "timed_run: cannot write %s: %s\n", argv[1], strerror(errno));
    return 1;
  }
  fprintf(result, "%.6f %.6f %ld %d\n", seconds,
          seconds_of(used.ru_utime) + seconds_of(used.ru_stime), used.ru_maxrss, status);
  return fclose(result) == 0 ? 0 : 1;
}
