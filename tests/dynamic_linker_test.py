#!/usr/bin/env python3
"""What programs may do with the dynamic linker while they call functions that Hoist stands in for:
constructors that wait for another thread, messages of dlerror(), libraries that come and go, and
weak references to libraries that are not there."""

import ctypes.util
import pathlib
import tempfile
import unittest
import zlib

from hoist_tree import HOIST, compile_c, environment, run

# First calls of each family, small ones and ones that are worth an engine.
CALLS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int by_value(const void* a, const void* b) {
  return (*(const int*)a > *(const int*)b) - (*(const int*)a < *(const int*)b);
}

static void make_calls(void) {
  const uLong size = 9 << 20;
  Bytef* text = malloc(size);
  for (uLong i = 0; i < size; ++i) text[i] = (i * i >> 9) % 251;
  printf("%lx %lx\n", crc32(0, text, 9), adler32(1, text, 9));
  printf("%lx %lx\n", crc32_z(0, text, 9), adler32_z(1, text, 9));
  uLong packed_size = compressBound(size), back_size = size;
  Bytef *packed = malloc(packed_size), *back = malloc(size);
  printf("%d", compress2(packed, &packed_size, text, size, 1));
  printf(" %d %lu", uncompress(back, &back_size, packed, packed_size), back_size);
  printf(" %d\n", memcmp(text, back, size));
  printf("%lx %lx\n", crc32(0, text, size), adler32(1, text, size));
  int* numbers = (int*)text;
  qsort(numbers, size / 8, sizeof *numbers, by_value);
  printf("%lx\n", crc32(0, text, size));
  free(text), free(packed), free(back);
}
"""

WAITING = CALLS + r"""
#include <pthread.h>
static void* work(void* none) {
  make_calls();
  return none;
}
__attribute__((constructor)) static void wait_for_another_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
}
"""

LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IONBF, 0);
  alarm(60); /* a deadlock ends */
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return puts(dlerror()), 1;
  void (*function)(void) = (void (*)(void))dlsym(library, "function");
  if (function != NULL) {
    printf("%d\n", dlopen("/none/such.so", RTLD_NOW) == NULL);
    function();
    const char* message = dlerror();
    puts(message != NULL ? message : "no message");
  }
  puts("end");
  return 0;
}
"""

SMALL = r"""
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
static int by_value(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
void function(void) {
  int numbers[] = {3, 1, 2};
  Bytef packed[100], back[100];
  uLongf packed_size = sizeof packed, back_size = sizeof back;
  qsort(numbers, 3, sizeof *numbers, by_value);
  printf("%lx %lx %d\n", crc32(0, (const Bytef*)"text", 4), adler32(1, (const Bytef*)"text", 4),
         numbers[0]);
  printf("%d", compress(packed, &packed_size, (const Bytef*)"text", 4));
  printf(" %d %lu\n", uncompress(back, &back_size, packed, packed_size), back_size);
}
"""

# Libraries that bring functions of these names, one after the other at the same place.
NAMESAKE = r"""
unsigned long crc32(unsigned long before, const unsigned char* data, unsigned size) {
  return before + data[0] + size + OWN;
}
double compress(double a, int b, long c, long d, long e, long f, long g, long h, float i) {
  return a + b + c + d + e + f + g + h + i + OWN;
}
struct large { long of[5]; };
struct large compress2(long a) { return (struct large){{a, OWN, 3, 4, 5}}; }
unsigned long number(void) {
  return crc32(7, (const unsigned char*)"a", 3) +
         (unsigned long)(10 * compress(1.5, 2, 3, 4, 5, 6, 7, 8, 0.5f)) + compress2(1000).of[0] +
         compress2(1).of[1];
}
"""
OF_ZLIB = r"""
#include <zlib.h>
unsigned long number(void) {
  Bytef packed[100];
  uLongf size = sizeof packed;
  return crc32(7, (const Bytef*)"a", 1) + compress(packed, &size, (const Bytef*)"a", 1) + size;
}
"""
CHANGING = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  for (int round = 0; round < 50; ++round) {
    void* library = dlopen(argv[1 + round * 7 % (argc - 1)], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 1;
    unsigned long (*number)(void) = (unsigned long (*)(void))dlsym(library, "number");
    printf("%lu %lu\n", number(), number());
    if (round % 4 != 0) dlclose(library);
  }
  return 0;
}
"""

# A zlib, and what is none, of the same size and with their functions at the same places.
TWIN = r"""
#ifdef AS_ZLIB
const char* zlibVersion(void) { return "1.2.13"; }
enum { kResult = 0 };
#else
const char* xlibVersion(void) { return "1.2.13"; }
enum { kResult = 5 };
__attribute__((used)) static const char padding[512] = {1};
#endif
int compress(char* to, unsigned long* size, const char* from, unsigned long from_size) {
  return kResult;
}
static char text[100000], room[200000];
int number(void) {
  unsigned long size = sizeof room;
  return compress(room, &size, text, sizeof text);
}
"""
REPLACING = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* place = NULL;
  for (int round = 0; round < 6; ++round) {
    void* library = dlopen(argv[1 + round % 2], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 1;
    int (*number)(void) = (int (*)(void))dlsym(library, "number");
    if (round == 0) place = (void*)number;
    printf("%d%s\n", number(), place == (void*)number ? "" : " elsewhere");
    dlclose(library);
  }
  return 0;
}
"""

WEAK = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#pragma weak crc32
#pragma weak crc32_z
#pragma weak adler32
#pragma weak adler32_z
#pragma weak compress
#pragma weak inflate
#pragma weak inflateInit_
#pragma weak inflateEnd
#pragma weak deflateInit_
#pragma weak deflateEnd
#pragma weak seccomp_load
#pragma weak ZSTD_decompress
int seccomp_load(void*);
size_t ZSTD_decompress(void*, size_t, const void*, size_t);
int main(void) {
  if (crc32 == NULL) return puts("no zlib"), 0;
  enum { kSize = 100000 };
  Bytef *text = calloc(1, kSize), *packed = malloc(2 * kSize), *back = malloc(kSize);
  for (int i = 0; i < kSize; ++i) text[i] = (Bytef)(i * i >> 7);
  printf("%lx %lx\n", crc32(crc32(0, NULL, 0), text, kSize), adler32(adler32(0, NULL, 0), text, 9));
  printf("%lx %lx\n", crc32_z(0, text, 7), adler32_z(1, text, kSize));
  uLongf size = 2 * kSize;
  const int packed_result = compress(packed, &size, text, kSize);
  z_stream s = {.next_in = packed, .avail_in = size, .next_out = back, .avail_out = kSize};
  const int init = inflateInit(&s);
  const int result = init == Z_OK ? inflate(&s, Z_FINISH) : init;
  printf("%d %d %d %d\n", packed_result, result, inflateEnd(&s),
         result < 0 || memcmp(text, back, kSize) == 0);
  z_stream d = {0};
  printf("%d\n", deflateInit(&d, 5) == deflateEnd(&d));
  printf("%d", ZSTD_decompress(back, kSize, "damaged", 7) > kSize);
  printf(" %d\n", seccomp_load(NULL) != 0);
  return 0;
}
"""


def setUpModule():
    global DIRECTORY, FOLDER, PROGRAM, LINKED
    DIRECTORY = tempfile.TemporaryDirectory()
    FOLDER = pathlib.Path(DIRECTORY.name)
    PROGRAM = compile_c(LOADER, FOLDER / "loader", "-w", "-ldl")
    # The same with a zlib of its own, in the global scope.
    LINKED = compile_c(LOADER, FOLDER / "linked", "-w", "-Wl,--no-as-needed", "-ldl", "-lz")
    if LINKED is None:
        DIRECTORY.cleanup()
        raise unittest.SkipTest("no C compiler, or no zlib to develop with")


def tearDownModule():
    DIRECTORY.cleanup()


def library(name, source, *flags):
    return compile_c(source, FOLDER / name, "-w", "-O1", "-shared", "-fPIC", "-pthread", *flags)


class DynamicLinkerTest(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.env = environment(HOME=home.name, XDG_CACHE_HOME=home.name)

    def assert_same(self, *command):
        plain = run(*command, env=self.env)
        self.assertEqual(plain.returncode, 0, plain.stdout)
        for options in ((), ("--ops=+deflate,+zstd,+memcpy",), ("--verify=1",)):
            done = run(HOIST, "run", *options, "--", *command, env=self.env)
            self.assertEqual((done.returncode, done.stdout.decode()), (0, plain.stdout.decode()))

    def test_constructor_that_waits_for_another_thread(self):
        waiting = library("libwaiting.so", WAITING, "-lz")
        for program in (PROGRAM, LINKED):
            self.assert_same(program, waiting)

    def test_pending_message(self):
        small = library("libsmall.so", SMALL, "-lz")
        for program in (PROGRAM, LINKED):
            self.assert_same(program, small)

    def test_libraries_that_come_and_go(self):
        libraries = [library(f"libnamesake{i}.so", NAMESAKE, f"-DOWN={i}") for i in (1, 2, 30)]
        libraries.append(library("libofzlib.so", OF_ZLIB, "-lz"))
        changing = compile_c(CHANGING, FOLDER / "changing", "-w", "-ldl")
        self.assert_same(changing, *libraries)

    def test_library_that_takes_the_place_of_a_zlib(self):
        twins = (library("libtwin1.so", TWIN, "-DAS_ZLIB"), library("libtwin2.so", TWIN))
        replacing = compile_c(REPLACING, FOLDER / "replacing", "-w", "-ldl")
        self.assertEqual(run(replacing, *twins, env=self.env).stdout, b"0\n5\n" * 3)
        self.assert_same(replacing, *twins)

    def weak(self, **variables):
        program = compile_c(WEAK, FOLDER / "weak", "-w")
        self.assertEqual(run(program, env=self.env).stdout, b"no zlib\n")
        done = run(HOIST, "run", "--ops=+deflate,+zstd", "--", program, env=self.env | variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = bytes((i * i >> 7) & 255 for i in range(100000))
        self.assertEqual(done.stdout.decode().splitlines()[:2], [
            f"{zlib.crc32(text):x} {zlib.adler32(text[:9]):x}",
            f"{zlib.crc32(text[:7]):x} {zlib.adler32(text):x}"])
        return done.stdout.decode().splitlines()[2:]

    @unittest.skipUnless(ctypes.util.find_library("z"), "zlib is not installed")
    def test_weak_references_to_what_is_installed(self):
        self.assertEqual(self.weak(), ["0 1 0 1", "1", "1 1"])

    def test_weak_references_to_what_is_not(self):
        nothing = FOLDER / "nothing"
        nothing.mkdir()
        for name in ("libz.so.1", "libzstd.so.1", "libseccomp.so.2"):
            (nothing / name).touch()  # cannot be loaded, and ends the search
        self.assertEqual(self.weak(LD_LIBRARY_PATH=str(nothing)), ["-2 -2 -2 1", "1", "1 1"])


if __name__ == "__main__":
    unittest.main()
