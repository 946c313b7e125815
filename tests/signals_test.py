#!/usr/bin/env python3
"""Library calls in a program that signals interrupt at any moment, and that forks between them."""

import json
import pathlib
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, compile_c, environment, run

PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#ifdef WITH_ZSTD
#include <zstd.h>
#endif
#ifdef WITH_OPENSSL
#include <openssl/evp.h>
#endif

enum { kSize = 5 << 20, kRoom = 6 << 20 };
static Bytef text[kSize], packed[kRoom], back[kSize];
static volatile sig_atomic_t signals;
static void count(int number) { ++signals; }

static int by_value(const void* a, const void* b) {
  return (*(const unsigned*)a > *(const unsigned*)b) - (*(const unsigned*)a < *(const unsigned*)b);
}
static void fill(unsigned seed) {
  for (size_t i = 0; i < kSize; ++i) {
    seed = seed * 1664525 + 1013904223;
    text[i] = (Bytef)"etaoin shrdlu,.\n"[(seed >> 28) * (seed >> 24 & 15) / 15];
  }
}
static void zlib_calls(void) {
  uLongf size = kRoom, got = kSize;
  printf("%lx %lx", crc32(0, text, kSize), adler32(1, text, kSize));
  printf(" %d", compress2(packed, &size, text, kSize, 1));
  printf(" %d %d\n", uncompress(back, &got, packed, size), memcmp(text, back, kSize));
}
static void qsort_calls(void) {
  memcpy(back, text, kSize);
  qsort(back, kSize / 8, 8, by_value);
  printf("%lx\n", crc32(0, back, kSize));
}
static void zstd_calls(void) {
#ifdef WITH_ZSTD
  size_t size = 0;
  for (int i = 0; i < 5; ++i) {
    size += ZSTD_compress(packed + size, kRoom - size, text + (i << 20), 1 << 20, 1);
  }
  memset(back, 0, kSize);
  printf("%zu", ZSTD_decompress(back, kSize, packed, size));
  printf(" %d\n", memcmp(text, back, kSize));
#endif
}
static void openssl_calls(void) {
#ifdef WITH_OPENSSL
  static const char* const kNames[] = {"AES-256-GCM", "AES-128-CTR", "ChaCha20-Poly1305"};
  for (int i = 0; i < 3; ++i) {
    EVP_CIPHER* cipher = EVP_CIPHER_fetch(NULL, kNames[i], NULL);
    EVP_CIPHER_CTX* state = EVP_CIPHER_CTX_new();
    int size = 0, more = 0;
    printf("%d", EVP_EncryptInit_ex2(state, cipher, text, text, NULL));
    printf(" %d", EVP_EncryptUpdate(state, packed, &size, text, kSize));
    printf(" %d", EVP_EncryptFinal_ex(state, packed + size, &more));
    printf(" %d %lx\n", size + more, crc32(0, packed, size));
    EVP_CIPHER_CTX_free(state);
    EVP_CIPHER_free(cipher);
  }
#endif
}
static void all_calls(unsigned seed) {
  fill(seed);
  zlib_calls();
  qsort_calls();
  zstd_calls();
  openssl_calls();
  fflush(stdout);
}

int main(void) {
  signal(SIGALRM, count);
  const struct itimerval often = {{0, 300}, {0, 300}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  for (unsigned round = 0; round < 3; ++round) {
    setitimer(ITIMER_REAL, &often, NULL);
    all_calls(round);
    const pid_t child = fork(); /* its timer is off */
    if (child == 0) {
      setitimer(ITIMER_REAL, &often, NULL);
      all_calls(round + 100);
      _exit(0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    waitpid(child, NULL, 0);
  }
  printf("%d\n", signals > 10);
  return 0;
}
"""

OPTIONAL = (("-DWITH_ZSTD", "-lzstd"), ("-DWITH_OPENSSL", "-lcrypto"))


@unittest.skipUnless((BUILD / "lib/libhoist_inflate.so").exists(),
                     "the engines are not built in this preset")
class SignalsTest(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = home.name
        self.env = environment(HOME=home.name, XDG_CACHE_HOME=home.name)

    def test_results_are_the_same(self):
        flags = ["-w", "-O1", "-lz"]
        for more in OPTIONAL:
            if compile_c(PROGRAM, f"{self.home}/program", *flags, *more):
                flags += more
        program = compile_c(PROGRAM, f"{self.home}/program", *flags)
        if program is None:
            self.skipTest("no C compiler, or no zlib to develop with")
        plain = run(program, env=self.env)
        self.assertEqual(plain.returncode, 0)
        stats = pathlib.Path(self.home) / "stats.json"
        for options in ([], ["--ops=+aes,+deflate,+memcpy"],
                        ["--ops=+aes,+deflate,+memcpy", "--verify=0.5"]):
            done = run(HOIST, "run", f"--stats={stats}", *options, "--", program, env=self.env)
            self.assertEqual((done.returncode, done.stdout.decode()), (0, plain.stdout.decode()),
                             done.stderr)
            counted = json.loads(stats.read_text())["operations"]
            for name in ("crc32", "inflate", "qsort"):
                taken = counted[name]["calls"] + counted[name]["passed"].get("verify: same", 0)
                self.assertGreater(taken, 0, name)
                self.assertNotIn("verify: different", counted[name]["passed"])


if __name__ == "__main__":
    unittest.main()
