// Part of every test program with AddressSanitizer. The allocator of GCC 12's runtime does not take
// its locks for a fork, as glibc's does: a child that was forked while another thread was inside it
// hangs when it allocates. So fork() waits here until the other threads sleep, but no longer than
// two seconds: where they are busy throughout, the child must not allocate. A test whose threads
// are, and whose child does, lets them sleep meanwhile.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

namespace {

// What getdents64() gives.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

// The thread may have ended meanwhile.
bool is_running(int tasks, const char* thread) {
  char path[64];
  snprintf(path, sizeof path, "%s/stat", thread);
  const int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[512];  // "ID (NAME) STATE …"
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* const end_of_name = strrchr(text, ')');
  return end_of_name != nullptr && (end_of_name[2] == 'R' || end_of_name[2] == 'D');
}

bool others_are_running(int tasks) {
  char own[16];
  snprintf(own, sizeof own, "%ld", syscall(SYS_gettid));
  lseek(tasks, 0, SEEK_SET);
  alignas(DirectoryEntry) char entries[4096];
  ssize_t size = 0;
  while ((size = syscall(SYS_getdents64, tasks, entries, sizeof entries)) > 0) {
    for (ssize_t at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
      at += entry->length;
      if (entry->name[0] == '.' || strcmp(entry->name, own) == 0) continue;
      if (is_running(tasks, entry->name)) return true;
    }
  }
  return false;
}

void wait_for_others() {
  const int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return;
  const timespec pause = {0, 100'000};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (others_are_running(tasks) && std::chrono::steady_clock::now() < deadline) {
    nanosleep(&pause, nullptr);
  }
  close(tasks);
}

[[gnu::constructor]] void before_every_fork() { pthread_atfork(wait_for_others, nullptr, nullptr); }

}  // namespace
