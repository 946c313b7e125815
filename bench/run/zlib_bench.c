/* Calls zlib, as programs do.
 *
 *   zlib_bench crc32 FILE [SECONDS_FILE]
 *   zlib_bench inflate|pieces FILE.gz [SECONDS_FILE]
 *
 * crc32: of the first 16 MiB, 16 times. inflate: the whole file in one call; pieces: 16 KiB of
 * input and of output at a time. Prints a checksum of the result; how long these calls alone took
 * goes into SECONDS_FILE. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum { kSummed = 16 << 20, kTimes = 16, kPiece = 16 << 10 };

static void fail(const char* what) {
  fprintf(stderr, "zlib_bench: %s\n", what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static unsigned char* allocate(size_t size) {
  unsigned char* memory = malloc(size);
  if (memory == NULL) fail("not enough memory");
  memset(memory, 0, size); /* so that no page is new when the clock runs */
  return memory;
}

static unsigned char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail("cannot read FILE");
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char* data = allocate(*size + 1);
  if (fread(data, 1, *size, file) != *size) fail("cannot read FILE");
  fclose(file);
  return data;
}

/* Inflates a gzip file of one member, `piece` bytes of input and of output at a time. */
static int inflate_all(const unsigned char* packed, size_t packed_size, unsigned char* output,
                       size_t size, size_t piece) {
  z_stream stream = {0};
  if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) return 0;
  int result = Z_OK;
  while (result == Z_OK) {
    if (stream.avail_in == 0) {
      const size_t left = packed_size - stream.total_in;
      stream.next_in = (Bytef*)packed + stream.total_in;
      stream.avail_in = (uInt)(left < piece ? left : piece);
    }
    const size_t room = size - stream.total_out;
    stream.next_out = output + stream.total_out;
    stream.avail_out = (uInt)(room < piece ? room : piece);
    result = inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && stream.total_out == size;
}

/* The last four bytes of a gzip file (RFC 1952, 2.3.1). */
static size_t size_of_content(const unsigned char* packed, size_t size) {
  if (size < 4) fail("no gzip file");
  const unsigned char* last = packed + size - 4;
  return last[0] | (size_t)last[1] << 8 | (size_t)last[2] << 16 | (size_t)last[3] << 24;
}

int main(int argc, char** argv) {
  const char* mode = argc > 2 ? argv[1] : "";
  const int sums = strcmp(mode, "crc32") == 0;
  const int pieces = strcmp(mode, "pieces") == 0;
  if (!sums && !pieces && strcmp(mode, "inflate") != 0) {
    fail("usage: zlib_bench crc32|inflate|pieces FILE [SECONDS_FILE]");
  }
  size_t size;
  unsigned char* data = read_file(argv[2], &size);
  const size_t output_size = sums ? 1 : size_of_content(data, size);
  unsigned char* output = allocate(output_size);
  const size_t summed = size < kSummed ? size : kSummed;
  uLong checksum = 0;

  const double start = now();
  if (sums) {
    for (int i = 0; i < kTimes; ++i) checksum = crc32(checksum, data, (uInt)summed);
  } else if (!inflate_all(data, size, output, output_size, pieces ? kPiece : UINT_MAX)) {
    fail("cannot decompress");
  }
  const double seconds = now() - start;

  if (!sums) checksum = adler32(1, output, (uInt)output_size);
  printf("%08lx\n", checksum);
  FILE* file = argc > 3 ? fopen(argv[3], "w") : NULL;
  if (argc > 3 && (file == NULL || fprintf(file, "%.9f\n", seconds) < 0 || fclose(file) != 0)) {
    fail("cannot write SECONDS_FILE");
  }
  return 0;
}
