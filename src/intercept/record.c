#include "intercept/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "intercept/preload.h"

bool map_counters(const char* path, struct mapped_counters* mapped) {
  enum { kBlock = 512 }; /* of st_blocks */
  mapped->counters = NULL;
  const uid_t user = (uid_t)getauxval(AT_EUID); /* a sandbox may not allow geteuid() */
  const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat info;
  uint64_t head[2];
  /* Read before it is mapped: touching a page that is not there would end the program (SIGBUS). */
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == user &&
      (uint64_t)info.st_blocks * kBlock >= (uint64_t)info.st_size &&
      pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head && head[0] == HOIST_COUNTERS_MAGIC &&
      head[1] == (uint64_t)info.st_size) {
    mapped->size = head[1];
    mapped->program_slots = hoist_counters_slots(head[1]);
    void* memory = mapped->program_slots == 0
                       ? MAP_FAILED
                       : mmap(NULL, mapped->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) mapped->counters = memory;
  }
  close(fd);
  return mapped->counters != NULL;
}

void unmap_counters(const struct mapped_counters* mapped) {
  munmap(mapped->counters, mapped->size);
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
  struct mapped_counters mapped;
  if (!map_counters(path, &mapped)) return;
  struct hoist_counters* counters = mapped.counters;
  const uint32_t index = __atomic_fetch_add(&counters->program_count, 1u, __ATOMIC_RELAXED);
  if (index < mapped.program_slots) fill_slot(&counters->programs[index], argv, reason);
  unmap_counters(&mapped);
}
