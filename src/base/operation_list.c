#include "base/operation_list.h"

#include <string.h>

const char* const hoist_operation_names[HOIST_OPERATIONS] = {
    "sort",   "hash", "gunzip", "crc32",   "inflate", "qsort",
    "memcpy", "aes",  "zstd",   "deflate", "gemm"};

static bool is_operation(const char* name, size_t length) {
  for (size_t i = 0; i < HOIST_OPERATIONS; ++i) {
    const char* known = hoist_operation_names[i];
    if (strlen(known) == length && memcmp(known, name, length) == 0) return true;
  }
  return false;
}

bool hoist_next_operation(const char** at, struct hoist_listed_operation* operation) {
  *at += strspn(*at, ",");
  if (**at == '\0') return false;
  operation->sign = **at == '+' || **at == '-' ? *(*at)++ : '\0';
  operation->name = *at;
  operation->length = strcspn(*at, ",");
  operation->is_known = is_operation(operation->name, operation->length);
  *at += operation->length;
  return true;
}

bool hoist_list_enables(const char* list, const char* name, size_t length, bool on_by_default) {
  bool enabled = on_by_default;
  bool listed_only = false;
  struct hoist_listed_operation word;
  while (list != NULL && hoist_next_operation(&list, &word)) {
    if (!word.is_known) continue;
    if (word.sign == '\0' && !listed_only) {
      listed_only = true;
      enabled = false;
    }
    if (word.length == length && memcmp(word.name, name, length) == 0) enabled = word.sign != '-';
  }
  return enabled;
}
