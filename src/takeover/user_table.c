#include "takeover/user_table.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "takeover/programs.h"

enum { kMaximumTable = 64 * 1024 };

bool hoist_user_table_path(char* path, size_t size) {
  const char* data = getenv("XDG_DATA_HOME");
  const char* tail = "/hoist/programs";
  if (data == NULL || data[0] != '/') {
    data = getenv("HOME");
    tail = "/.local/share/hoist/programs";
  }
  if (data == NULL || data[0] != '/') return false;
  const int length = snprintf(path, size, "%s%s", data, tail);
  return length > 0 && (size_t)length < size;
}

/* Copies the next word of at most size-1 printable characters; null where there is none. */
static const char* take_word(const char* at, char* word, size_t size) {
  while (*at == ' ' || *at == '\t') ++at;
  size_t length = 0;
  while (at[length] > ' ' && at[length] < 127 && at[length] != ':') ++length;
  if (length == 0 || length >= size) return NULL;
  memcpy(word, at, length);
  word[length] = '\0';
  return at + length;
}

bool hoist_parse_user_build(const char* line, struct hoist_user_build* build) {
  const char* at = take_word(line, build->build_id, sizeof build->build_id);
  if (at != NULL) at = take_word(at, build->program, sizeof build->program);
  if (at != NULL) at = take_word(at, build->package, sizeof build->package);
  if (at != NULL) at = take_word(at, build->version, sizeof build->version);
  if (at == NULL || (*at != '\n' && *at != '\0')) return false;
  return strspn(build->build_id, "0123456789abcdef") == strlen(build->build_id) &&
         hoist_find_program(build->program) != NULL;
}

static bool is_trustworthy(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 && info.st_size <= kMaximumTable;
}

bool hoist_find_user_build(const char* build_id, struct hoist_user_build* build) {
  char path[4096];
  if (!hoist_user_table_path(path, sizeof path)) return false;
  /* O_NONBLOCK: a FIFO under this name must not hang somebody else's program. */
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  FILE* file = is_trustworthy(fd) ? fdopen(fd, "r") : NULL;
  if (file == NULL) {
    close(fd);
    return false;
  }
  bool found = false;
  char line[256];
  while (!found && fgets(line, sizeof line, file) != NULL) {
    found = hoist_parse_user_build(line, build) && strcmp(build->build_id, build_id) == 0;
  }
  fclose(file);
  return found;
}
