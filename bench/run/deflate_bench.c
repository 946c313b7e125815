/* Compresses a whole file by one call of zlib, as programs do.
 *
 *   deflate_bench FILE LEVEL [SECONDS_FILE]
 *
 * Prints whether the content survived, and how much there is of it; how long the call alone took
 * goes into SECONDS_FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

static void fail(const char* what) {
  fprintf(stderr, "deflate_bench: %s\n", what);
  exit(1);
}

/* Filled once, so that page faults are not what is measured. */
static Bytef* allocate(size_t size) {
  Bytef* memory = malloc(size + 1);
  if (memory == NULL) fail("not enough memory");
  return memset(memory, 1, size + 1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  if (argc < 3) fail("usage: deflate_bench FILE LEVEL [SECONDS_FILE]");
  FILE* file = fopen(argv[1], "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail("cannot read FILE");
  const uLong size = (uLong)ftell(file);
  Bytef* content = allocate(size);
  rewind(file);
  if (fread(content, 1, size, file) != size) fail("cannot read FILE");
  fclose(file);

  uLongf packed_size = compressBound(size);
  Bytef* packed = allocate(packed_size);
  const double start = now();
  if (compress2(packed, &packed_size, content, size, atoi(argv[2])) != Z_OK) fail("not compressed");
  const double seconds = now() - start;

  uLongf result_size = size;
  Bytef* result = allocate(size);
  if (uncompress(result, &result_size, packed, packed_size) != Z_OK) fail("not uncompressed");
  const int same = result_size == size && memcmp(content, result, size) == 0;
  printf("%lu %s\n", size, same ? "same" : "different");
  if (argc > 3) {
    file = fopen(argv[3], "w");
    if (file == NULL || fprintf(file, "%.9f\n", seconds) < 0 || fclose(file) != 0) {
      fail("cannot write SECONDS_FILE");
    }
  }
  return 0;
}
