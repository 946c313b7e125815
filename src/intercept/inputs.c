#include "intercept/inputs.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char kSmall[] = "small input";

/* A writer that has filled half of a default pipe is likely to have more. */
enum { kBusyPipe = 32 * 1024 };

void add_operand(struct inputs* inputs, const char* path, const char* suffix) {
  ++inputs->operands;
  if (strcmp(path, "-") == 0) {
    inputs->standard_input = true;
    return;
  }
  struct stat info;
  bool found = stat(path, &info) == 0;
  if (!found && suffix != NULL) {
    char name[4096];
    const int length = snprintf(name, sizeof name, "%s%s", path, suffix);
    found = length > 0 && (size_t)length < sizeof name && stat(name, &info) == 0;
  }
  if (!found) return;
  if (S_ISREG(info.st_mode)) {
    inputs->bytes += (uint64_t)info.st_size;
  } else {
    inputs->unbounded = true;
  }
}

/* Until the writer has closed the pipe, filled half of it, or taken 3 ms. Waiting costs nothing:
 * the program itself could not have finished before its writer either. */
static bool pipe_is_small(void) {
  const long kStep = 100 * 1000;
  const long kLimit = 3 * 1000 * 1000;
  long step = kStep;
  for (long waited = 0; waited < kLimit; waited += step) {
    struct pollfd standard_input = {.fd = STDIN_FILENO, .events = POLLRDHUP};
    if (poll(&standard_input, 1, 0) < 0) return false;
    /* Asked after poll: once the writer is gone, the count is final. */
    int available = 0;
    if (ioctl(STDIN_FILENO, FIONREAD, &available) != 0 || available >= kBusyPipe) return false;
    if ((standard_input.revents & (POLLHUP | POLLRDHUP)) != 0) return true;
    if (waited >= 4 * kStep) step = 5 * kStep;
    const struct timespec pause = {.tv_nsec = step};
    nanosleep(&pause, NULL);
  }
  return false;
}

/* The rest of the regular file on standard input is added to `inputs`; anything else decides. */
static const char* small_standard_input(struct inputs* inputs) {
  struct stat info;
  if (fstat(STDIN_FILENO, &info) != 0) return "standard input is closed";
  if (S_ISREG(info.st_mode)) {
    const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (at >= 0 && at < info.st_size) inputs->bytes += (uint64_t)(info.st_size - at);
    return kSmall;
  }
  if (S_ISCHR(info.st_mode)) return "standard input is a character device";
  if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) return pipe_is_small() ? kSmall : NULL;
  return NULL;
}

const char* small_input(struct inputs* inputs, uint64_t threshold) {
  if (inputs->unbounded || inputs->bytes >= threshold) return NULL;
  if (threshold == UINT64_MAX) return kSmall; /* a pipe's either */
  if (inputs->operands > 0 && !inputs->standard_input) return kSmall;
  const char* reason = small_standard_input(inputs);
  return inputs->bytes >= threshold ? NULL : reason;
}
