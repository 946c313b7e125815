#include "intercept/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "intercept/preload.h"

struct hoist_counters* map_counters(const char* path) {
  const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return NULL;
  struct stat info;
  void* memory = MAP_FAILED;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      info.st_size == (off_t)sizeof(struct hoist_counters)) {
    memory = mmap(NULL, sizeof(struct hoist_counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  return memory == MAP_FAILED ? NULL : memory;
}

static void fill_slot(struct hoist_program_slot* slot, char** argv, const char* reason) {
  slot->pid = getpid();
  slot->taken_over = 0;
  snprintf(slot->reason, sizeof slot->reason, "%s", reason);
  size_t at = 0;
  for (char** word = argv; *word != NULL && at + 1 < sizeof slot->argv; ++word) {
    const size_t length = strnlen(*word, sizeof slot->argv - at - 1);
    memcpy(slot->argv + at, *word, length);
    at += length;
    slot->argv[at++] = '\0';
    ++slot->argument_count;
  }
  __atomic_store_n(&slot->ready, 1u, __ATOMIC_RELEASE);
}

void record_program(const char* path, char** argv, const char* reason) {
  struct hoist_counters* counters = map_counters(path);
  if (counters == NULL) return;
  if (__atomic_load_n(&counters->magic, __ATOMIC_ACQUIRE) == HOIST_COUNTERS_MAGIC &&
      counters->size == sizeof *counters) {
    const uint32_t index = __atomic_fetch_add(&counters->program_count, 1u, __ATOMIC_RELAXED);
    if (index < HOIST_MAX_PROGRAMS) fill_slot(&counters->programs[index], argv, reason);
  }
  munmap(counters, sizeof *counters);
}
