/* Calls libzstd on a whole file, as programs do.
 *
 *   zstd_bench decompress FILE FRAME_BYTES [SECONDS_FILE]    frames of so many bytes, one call
 *   zstd_bench compress FILE LEVEL [SECONDS_FILE]
 *
 * Prints whether the content survived, and how much there is of it; how long the calls alone took
 * goes into SECONDS_FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

static void fail(const char* what) {
  fprintf(stderr, "zstd_bench: %s\n", what);
  exit(1);
}

/* Filled once, so that page faults are not what is measured. */
static char* allocate(size_t size) {
  char* memory = malloc(size + 1);
  if (memory == NULL) fail("not enough memory");
  return memset(memory, 1, size + 1);
}

static size_t check(size_t result) {
  if (ZSTD_isError(result)) fail(ZSTD_getErrorName(result));
  return result;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static char* read_whole(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail("cannot read FILE");
  *size = (size_t)ftell(file);
  char* content = allocate(*size);
  rewind(file);
  if (fread(content, 1, *size, file) != *size) fail("cannot read FILE");
  fclose(file);
  return content;
}

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: zstd_bench decompress|compress FILE FRAME_BYTES|LEVEL [SECONDS_FILE]");
  const int compressing = strcmp(argv[1], "compress") == 0;
  size_t size;
  const char* content = read_whole(argv[2], &size);
  char* result = allocate(size);
  const size_t frame = compressing || atoll(argv[3]) <= 0 ? size + 1 : (size_t)atoll(argv[3]);
  const size_t room = ZSTD_compressBound(size) + (size / frame + 1) * ZSTD_compressBound(0);
  char* packed = allocate(room);
  size_t packed_size = 0;

  double start = now();
  for (size_t at = 0; at < size; at += frame) {
    const size_t part = size - at < frame ? size - at : frame;
    packed_size += check(ZSTD_compress(packed + packed_size, room - packed_size, content + at, part,
                                       compressing ? atoi(argv[3]) : 1));
  }
  if (!compressing) start = now();
  double seconds = now() - start;
  start = now();
  if (check(ZSTD_decompress(result, size, packed, packed_size)) != size) fail("lost content");
  if (!compressing) seconds = now() - start;

  printf("%zu %s\n", size, memcmp(content, result, size) == 0 ? "same" : "different");
  FILE* file = argc > 4 ? fopen(argv[4], "w") : NULL;
  if (argc > 4 && (file == NULL || fprintf(file, "%.9f\n", seconds) < 0 || fclose(file) != 0)) {
    fail("cannot write SECONDS_FILE");
  }
  return 0;
}
