/* Sorts generated arrays with qsort(), as programs do.
 *
 *   qsort_bench ints|structs|strings|collated|opaque COUNT [SECONDS_FILE]
 *
 * "collated" are strings in the order of strcoll(), in the locale of the environment.
 *
 * Prints a checksum of the sorted array, which is the same for every right qsort(); how long
 * qsort() alone took goes into SECONDS_FILE. */
#include <inttypes.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostDigits = 12 };

struct record {
  int64_t key;
  int64_t position;
  double value;
};

/* Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014). */
static uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static int compare_ints(const void* a, const void* b) {
  const int x = *(const int*)a;
  const int y = *(const int*)b;
  return (x > y) - (x < y);
}

static int compare_records(const void* a, const void* b) {
  const int64_t x = ((const struct record*)a)->key;
  const int64_t y = ((const struct record*)b)->key;
  return (x > y) - (x < y);
}

static int compare_strings(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

static int compare_collated(const void* a, const void* b) {
  return strcoll(*(char* const*)a, *(char* const*)b);
}

/* The order of what a multiplication scatters the numbers to: none that can be guessed. */
static int compare_scattered(const void* a, const void* b) {
  const uint32_t x = *(const uint32_t*)a * 2654435761u;
  const uint32_t y = *(const uint32_t*)b * 2654435761u;
  return (x > y) - (x < y);
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t checksum(uint64_t hash, const void* data, size_t size) {
  for (const unsigned char* byte = data; size > 0; --size, ++byte) {
    hash = (hash ^ *byte) * UINT64_C(0x100000001b3);
  }
  return hash;
}

static void fail(const char* what) {
  fprintf(stderr, "qsort_bench: %s\n", what);
  exit(1);
}

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count, size);
  if (memory == NULL) fail("not enough memory");
  return memory;
}

static void fill_strings(char** strings, size_t count, uint64_t* state) {
  char* text = allocate(count, kMostDigits + 8);
  for (size_t i = 0; i < count; ++i) {
    strings[i] = text;
    text += sprintf(text, "user-%" PRIu64, next_random(state) % UINT64_C(1000000000000)) + 1;
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  const char* kind = argc > 2 ? argv[1] : "";
  const size_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  const int ints = strcmp(kind, "ints") == 0;
  const int opaque = strcmp(kind, "opaque") == 0;
  const int structs = strcmp(kind, "structs") == 0;
  const int collated = strcmp(kind, "collated") == 0;
  const int strings = collated || strcmp(kind, "strings") == 0;
  if (collated && setlocale(LC_ALL, "") == NULL) fail("no such locale");
  if (count == 0 || !(ints || opaque || structs || strings)) {
    fail("usage: qsort_bench ints|structs|strings|collated|opaque COUNT [SECONDS_FILE]");
  }
  const size_t size = structs ? sizeof(struct record) : strings ? sizeof(char*) : sizeof(int);
  void* array = allocate(count, size);
  uint64_t state = 20240607;
  if (strings) fill_strings(array, count, &state);
  for (size_t i = 0; i < count && !strings; ++i) {
    if (structs) {
      ((struct record*)array)[i] =
          (struct record){(int64_t)next_random(&state), (int64_t)i, (double)i};
    } else {
      ((uint32_t*)array)[i] = (uint32_t)next_random(&state);
    }
  }
  const double start = now();
  qsort(array, count, size,
        structs    ? compare_records
        : collated ? compare_collated
        : strings  ? compare_strings
        : opaque   ? compare_scattered
                   : compare_ints);
  const double seconds = now() - start;
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  if (!strings) hash = checksum(hash, array, count * size);
  for (size_t i = 0; i < count && strings; ++i) {
    hash = checksum(hash, ((char**)array)[i], strlen(((char**)array)[i]));
  }
  printf("%016" PRIx64 "\n", hash);
  FILE* file = argc > 3 ? fopen(argv[3], "w") : NULL;
  if (argc > 3 && (file == NULL || fprintf(file, "%.9f\n", seconds) < 0 || fclose(file) != 0)) {
    fail("cannot write SECONDS_FILE");
  }
  return 0;
}
