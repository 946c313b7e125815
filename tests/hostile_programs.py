"""C programs for the tests of hostile places."""

# qsort() of many ints, and zlib's and libzstd's calls; prints what came out.
CALLS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef WITH_ZSTD
#include <zstd.h>
#endif
enum { COUNT = 400000 };
static int compare(const void* a, const void* b) {
  return (*(const int*)a > *(const int*)b) - (*(const int*)a < *(const int*)b);
}
int main(void) {
  int* values = malloc(COUNT * sizeof *values);
  if (values == NULL) return 3;
  for (unsigned i = 0; i < COUNT; ++i) values[i] = (int)(i * 2654435761u >> 3);
  qsort(values, COUNT, sizeof *values, compare);
  unsigned long size = COUNT * sizeof *values, packed_size = compressBound(size);
  const size_t room = packed_size;
  printf("%lx\n", crc32(0, (unsigned char*)values, size));
  unsigned char* packed = malloc(packed_size);
  int* again = malloc(size);
  if (packed == NULL || again == NULL) return 3;
  if (compress2(packed, &packed_size, (unsigned char*)values, size, 1) != Z_OK) return 4;
  if (uncompress((unsigned char*)again, &size, packed, packed_size) != Z_OK) return 5;
  printf("%d\n", memcmp(values, again, size));
#ifdef WITH_ZSTD
  const size_t half = ZSTD_compress(packed, room, values, size / 2, 1);
  const size_t rest = ZSTD_isError(half) ? 0 : ZSTD_compress(packed + half, room - half,
                      (char*)values + size / 2, size / 2, 1);
  memset(again, 0, size);
  const size_t got = ZSTD_decompress(again, size, packed, half + rest);
  printf("%zu %d\n", got, memcmp(values, again, size));
#endif
  return 0;
}
"""

# Streams, whole buffers and a file of zlib's, forward and back.
ZLIB_CALLS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
enum { SIZE = 3000000 };
int main(void) {
  unsigned char *data = malloc(SIZE), *again = calloc(1, SIZE), *packed = malloc(2 * SIZE);
  if (data == NULL || again == NULL || packed == NULL) return 3;
  unsigned state = 1;
  for (int i = 0; i < SIZE; ++i) {
    state = state * 1664525 + 1013904223;
    data[i] = (unsigned char)(i % 5 ? 'a' + (state >> 28) : state >> 24);
  }
  printf("%lx %lx\n", crc32(0, data, SIZE), adler32(1, data, SIZE));
  uLong size = 2 * SIZE, back = SIZE;
  if (compress2(packed, &size, data, SIZE, 6) != Z_OK) return 4;
  if (uncompress(again, &back, packed, size) != Z_OK) return 5;
  printf("buffer %lu %d\n", back, memcmp(data, again, SIZE));
  z_stream stream;
  memset(&stream, 0, sizeof stream);
  if (deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 6;
  stream.next_in = data, stream.avail_in = SIZE;
  stream.next_out = packed, stream.avail_out = 2 * SIZE;
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return 7;
  size = stream.total_out;
  deflateEnd(&stream);
  memset(&stream, 0, sizeof stream);
  memset(again, 0, SIZE);
  if (inflateInit2(&stream, 47) != Z_OK) return 8;
  stream.next_in = packed, stream.avail_in = (unsigned)size;
  stream.next_out = again, stream.avail_out = SIZE;
  if (inflate(&stream, Z_FINISH) != Z_STREAM_END) return 9;
  inflateEnd(&stream);
  printf("stream %d\n", memcmp(data, again, SIZE));
  gzFile file = gzopen("big.gz", "rb");
  if (file == NULL) return 10;
  uLong sum = 0;
  for (int got; (got = gzread(file, again, 100000)) > 0;) sum = crc32(sum, again, (unsigned)got);
  printf("file %lx %d\n", sum, gzclose(file));
  return 0;
}
"""

# Products of small integers, so that every sum is exact; prints a hash of what came out.
BLAS_CALLS = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 516, SIZE = N * N };
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
            const double*, const int*, const double*, const int*, const double*, double*,
            const int*, size_t, size_t);
int main(void) {
  double *a = malloc(SIZE * sizeof *a), *b = malloc(SIZE * sizeof *b), *c = malloc(SIZE * sizeof *c);
  if (a == NULL || b == NULL || c == NULL) return 3;
  for (int i = 0; i < SIZE; ++i) a[i] = i % 7, b[i] = i % 11 - 5, c[i] = i % 3;
  const int n = N;
  const double one = 1;
  for (int i = 0; i < 2; ++i) {
    dgemm_("N", "T", &n, &n, &n, &one, a, &n, b, &n, &one, c, &n, 1, 1);
    uint64_t hash = 14695981039346656037u;
    for (int k = 0; k < SIZE; ++k) hash = (hash ^ (uint64_t)(int64_t)c[k]) * 1099511628211u;
    printf("%016llx\n", (unsigned long long)hash);
  }
  return 0;
}
"""

# Runs a program under a filter of system calls: NUMBER=ERRNO refuses one, NUMBER=kill answers it
# with death, NUMBER=allow and others=kill do so with all but some: … -- PROGRAM ARGS…
REFUSE = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
static unsigned answer(const char* word) {
  if (strcmp(word, "kill") == 0) return SECCOMP_RET_KILL_PROCESS;
  return strcmp(word, "allow") == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (unsigned)atoi(word);
}
int main(int argc, char** argv) {
  struct sock_filter code[512];
  unsigned short n = 0;
  unsigned others = SECCOMP_RET_ALLOW;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  int at = 1;
  for (; at < argc && strcmp(argv[at], "--") != 0; ++at) {
    char* word = strchr(argv[at], '=');
    if (word == NULL || n > 500) return 90;
    if (strncmp(argv[at], "others", 6) == 0) {
      others = answer(word + 1);
      continue;
    }
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atoi(argv[at]), 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer(word + 1));
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
  struct sock_fprog filter = {n, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 91;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 92;
  execvp(argv[at + 1], argv + at + 1);
  return 127;
}
"""

# Large updates of two ciphers of OpenSSL's; prints a digest of what came out.
CRYPTO_CALLS = r"""
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
enum { SIZE = 4000000 };
static int encrypt(const EVP_CIPHER* cipher, unsigned char* text, unsigned char* out) {
  unsigned char key[32] = "key", vector[16] = "vector", digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  int size = 0;
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  if (context == NULL || EVP_EncryptInit_ex(context, cipher, NULL, key, vector) != 1) return 4;
  if (EVP_EncryptUpdate(context, out, &size, text, SIZE) != 1) return 5;
  EVP_CIPHER_CTX_free(context);
  if (EVP_Digest(out, size, digest, &length, EVP_sha256(), NULL) != 1) return 6;
  for (unsigned i = 0; i < length; ++i) printf("%02x", digest[i]);
  printf(" %d\n", size);
  return 0;
}
int main(void) {
  unsigned char *text = malloc(SIZE), *out = malloc(SIZE + 64);
  if (text == NULL || out == NULL) return 3;
  for (int i = 0; i < SIZE; ++i) text[i] = (unsigned char)(i * 7 >> 3);
  const int status = encrypt(EVP_aes_256_ctr(), text, out);
  return status != 0 ? status : encrypt(EVP_aes_128_gcm(), text, out);
}
"""
