#include "takeover/decisions.h"

#include <cpuid.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct built_in {
  const char* name;
  uint64_t break_even;
} kBuiltIn[] = {
#define HOIST_VARIANT(name, bytes) {name, bytes},
#include "takeover/operations.def"
};

static const char kHead[] = "hoist-decisions 1 ";

static const char* const kNames[] = {"unknown", "original", "cpu-1", "cpu-all", "cuda", "hoistd"};

const char* hoist_choice_name(enum hoist_choice choice) {
  return choice >= HOIST_CHOICE_ORIGINAL && choice <= HOIST_CHOICE_HOISTD ? kNames[choice]
                                                                          : kNames[0];
}

static uint64_t fnv_1a(uint64_t hash, const void* data, size_t size) {
  for (const unsigned char* byte = data; size > 0; --size, ++byte) {
    hash = (hash ^ *byte) * UINT64_C(0x100000001b3);
  }
  return hash;
}

/* Leaves of the CPUID instruction (Intel SDM volume 2A, AMD APM volume 3): the signature is
 * family, model and stepping, the brand 48 characters. */
uint64_t hoist_machine_key(void) {
  unsigned signature[4] = {0};
  unsigned brand[3][4] = {{0}};
  __get_cpuid(1, &signature[0], &signature[1], &signature[2], &signature[3]);
  for (unsigned i = 0; i < 3; ++i) {
    __get_cpuid(0x80000002u + i, &brand[i][0], &brand[i][1], &brand[i][2], &brand[i][3]);
  }
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  hash = fnv_1a(hash, &signature[0], sizeof signature[0]);
  hash = fnv_1a(hash, brand, sizeof brand);
  return fnv_1a(hash, HOIST_VERSION, sizeof HOIST_VERSION - 1);
}

bool hoist_decisions_path(char* path, size_t size) {
  const char* base = secure_getenv("HOIST_PROFILE");
  const char* tail = ".decisions";
  if (base == NULL || base[0] == '\0') {
    base = secure_getenv("XDG_CACHE_HOME");
    tail = "/hoist/decisions";
    if (base == NULL || base[0] != '/') {
      base = secure_getenv("HOME");
      tail = "/.cache/hoist/decisions";
    }
    if (base == NULL || base[0] != '/') return false;
  }
  const int length = snprintf(path, size, "%s%s", base, tail);
  return length > 0 && (size_t)length < size;
}

/* The parser below walks NUL-terminated text. Every function takes where it stands and returns
 * where it ends, or null where the text is not of the form. */

static const char* take_text(const char* at, const char* wanted) {
  const size_t length = strlen(wanted);
  return at != NULL && strncmp(at, wanted, length) == 0 ? at + length : NULL;
}

static const char* take_number(const char* at, uint64_t* number) {
  if (at == NULL || *at < '0' || *at > '9') return NULL;
  *number = 0;
  for (; *at >= '0' && *at <= '9'; ++at) {
    const uint64_t digit = (uint64_t)(*at - '0');
    if (*number > (UINT64_MAX - digit) / 10) return NULL;
    *number = *number * 10 + digit;
  }
  return at;
}

static const char* take_key(const char* at, uint64_t* key) {
  *key = 0;
  for (int i = 0; at != NULL && i < 16; ++i, ++at) {
    const char* digits = "0123456789abcdef";
    const char* digit = *at != '\0' ? strchr(digits, *at) : NULL;
    if (digit == NULL) return NULL;
    *key = *key << 4 | (uint64_t)(digit - digits);
  }
  return at;
}

static const char* take_choice(const char* at, enum hoist_choice* choice) {
  if (at == NULL) return NULL;
  const size_t length = strcspn(at, " \n");
  for (int i = HOIST_CHOICE_ORIGINAL; i <= HOIST_CHOICE_HOISTD; ++i) {
    if (strlen(kNames[i]) == length && memcmp(at, kNames[i], length) == 0) {
      *choice = (enum hoist_choice)i;
      return at + length;
    }
  }
  return NULL;
}

struct row {
  const char* name;
  size_t name_length;
  uint64_t cpus;
  struct hoist_interval intervals[HOIST_MOST_INTERVALS];
  size_t count;
};

static const char* take_row(const char* at, struct row* row) {
  row->name = at;
  row->name_length = strcspn(at, " \n");
  row->count = 0;
  if (row->name_length == 0) return NULL;
  at = take_number(take_text(at + row->name_length, " cpus="), &row->cpus);
  if (at == NULL || row->cpus == 0) return NULL;
  while (*at == ' ') {
    if (row->count == HOIST_MOST_INTERVALS) return NULL;
    struct hoist_interval* interval = &row->intervals[row->count];
    at = take_number(at + 1, &interval->from);
    at = take_choice(take_text(at, " "), &interval->choice);
    if (at == NULL) return NULL;
    const bool is_next = row->count == 0 ? interval->from == 0
                                         : interval->from > row->intervals[row->count - 1].from;
    if (!is_next) return NULL;
    ++row->count;
  }
  return *at == '\n' && row->count > 0 ? at + 1 : NULL;
}

/* Behind the first line. */
static const char* take_head(const char* at, uint64_t* key) {
  return take_text(take_key(take_text(at, kHead), key), "\n");
}

/* `decisions->text` holds `size` bytes: keeps them where they are well formed. */
static bool accept_text(struct hoist_decisions* decisions, size_t size, uint64_t key) {
  decisions->size = 0;
  decisions->text[size] = '\0';
  if (memchr(decisions->text, '\0', size) != NULL) return false;
  uint64_t found = 0;
  const char* at = take_head(decisions->text, &found);
  if (at == NULL || found != key) return false;
  struct row row;
  while (at != NULL && *at != '\0') at = take_row(at, &row);
  if (at == NULL) return false;
  decisions->size = size;
  return true;
}

bool hoist_parse_decisions(struct hoist_decisions* decisions, const char* text, size_t size,
                           uint64_t key) {
  decisions->size = 0;
  if (size > HOIST_DECISIONS_LIMIT) return false;
  if (size > 0) memcpy(decisions->text, text, size); /* `text` may be null then */
  return accept_text(decisions, size, key);
}

static bool is_trustworthy(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 && info.st_size <= HOIST_DECISIONS_LIMIT;
}

/* The file's bytes in `text`; -1 where it is not there or does not count. */
static ssize_t read_text(char* text) {
  char path[4096];
  if (!hoist_decisions_path(path, sizeof path)) return -1;
  /* O_NONBLOCK: a FIFO under this name must not hang somebody else's program. */
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return -1;
  /* It is replaced by rename, never written in place, so that one read sees all of it. */
  const ssize_t size = is_trustworthy(fd) ? read(fd, text, HOIST_DECISIONS_LIMIT) : -1;
  close(fd);
  return size;
}

bool hoist_load_decisions(struct hoist_decisions* decisions) {
  decisions->size = 0;
  const ssize_t size = read_text(decisions->text);
  return size > 0 && accept_text(decisions, (size_t)size, hoist_machine_key());
}

/* The file's row for the most CPUs that are not more than `cpus`. */
static bool find_measured(const struct hoist_decisions* decisions, const char* name, int cpus,
                          struct row* best) {
  if (decisions->size == 0) return false;
  const size_t length = strlen(name);
  const uint64_t usable = cpus > 1 ? (uint64_t)cpus : 1;
  uint64_t key;
  bool found = false;
  struct row row;
  for (const char* at = take_head(decisions->text, &key); at != NULL && *at != '\0';) {
    at = take_row(at, &row);
    const bool fits = at != NULL && row.name_length == length &&
                      memcmp(row.name, name, length) == 0 && row.cpus <= usable;
    if (!fits || (found && row.cpus <= best->cpus)) continue;
    *best = row;
    found = true;
  }
  return found;
}

bool hoist_is_measured(const struct hoist_decisions* decisions, const char* name, int cpus) {
  struct row row;
  return find_measured(decisions, name, cpus, &row);
}

static size_t find_built_in(const char* name, struct hoist_interval* intervals) {
  for (size_t i = 0; i < sizeof kBuiltIn / sizeof kBuiltIn[0]; ++i) {
    if (strcmp(kBuiltIn[i].name, name) != 0) continue;
    intervals[0] = (struct hoist_interval){0, HOIST_CHOICE_ORIGINAL};
    if (kBuiltIn[i].break_even == UINT64_MAX) return 1;
    intervals[1] = (struct hoist_interval){kBuiltIn[i].break_even, HOIST_CHOICE_CPU_ALL};
    return 2;
  }
  return 0;
}

size_t hoist_find_row(const struct hoist_decisions* decisions, const char* name, int cpus,
                      struct hoist_interval* intervals) {
  struct row row;
  size_t count = 0;
  if (find_measured(decisions, name, cpus, &row)) {
    count = row.count;
    memcpy(intervals, row.intervals, count * sizeof row.intervals[0]);
  } else {
    count = find_built_in(name, intervals);
  }
  for (size_t i = 0; cpus <= 1 && i < count; ++i) {
    if (intervals[i].choice == HOIST_CHOICE_CPU_ALL) intervals[i].choice = HOIST_CHOICE_CPU_1;
  }
  return count;
}

enum hoist_choice hoist_decide(const struct hoist_decisions* decisions, const char* name, int cpus,
                               uint64_t bytes) {
  struct hoist_interval intervals[HOIST_MOST_INTERVALS];
  size_t count = hoist_find_row(decisions, name, cpus, intervals);
  while (count > 0 && intervals[count - 1].from > bytes) --count;
  return count > 0 ? intervals[count - 1].choice : HOIST_CHOICE_UNKNOWN;
}

uint64_t hoist_break_even(const struct hoist_decisions* decisions, const char* name, int cpus) {
  struct hoist_interval intervals[HOIST_MOST_INTERVALS];
  const size_t count = hoist_find_row(decisions, name, cpus, intervals);
  for (size_t i = 0; i < count; ++i) {
    if (intervals[i].choice != HOIST_CHOICE_ORIGINAL) return intervals[i].from;
  }
  return UINT64_MAX;
}

/* The length of what snprintf() wrote, 0 where it did not fit. */
static size_t written(int length, size_t size) {
  return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

size_t hoist_format_decisions_head(char* text, size_t size, uint64_t key) {
  return written(snprintf(text, size, "%s%016" PRIx64 "\n", kHead, key), size);
}

size_t hoist_format_decisions_row(char* text, size_t size, const char* name, int cpus,
                                  const struct hoist_interval* intervals, size_t count) {
  size_t at = written(snprintf(text, size, "%s cpus=%d", name, cpus), size);
  for (size_t i = 0; at > 0 && i < count; ++i) {
    const size_t more = written(snprintf(text + at, size - at, " %" PRIu64 " %s", intervals[i].from,
                                         hoist_choice_name(intervals[i].choice)),
                                size - at);
    at = more > 0 ? at + more : 0;
  }
  if (at == 0 || at + 1 >= size) return 0;
  text[at] = '\n';
  text[at + 1] = '\0';
  return at + 1;
}
