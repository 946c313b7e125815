#!/usr/bin/env python3
"""zlib's checksums and inflate() in programs that run under Hoist: the same results, counted."""

import json
import pathlib
import sys
import tempfile
import unittest

from hoist_tree import (BUILD, HOIST, Scratch, compile_c, environment, run, self_bound_zlib,
                        tried_until)

EXAMPLES = pathlib.Path("/usr/share/doc/zlib1g-dev/examples")

PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { kSize = 2 << 20 };
static unsigned char text[kSize], output[kSize + 100], *packed;
static uLong packed_size;

static void fill(void) {
  uint64_t state = 1;
  for (size_t at = 0; at < kSize;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    char word[32];
    const int length = snprintf(word, sizeof word, "word%u ", (unsigned)(state >> 40) % 5000);
    for (int i = 0; i < length && at < kSize; ++i) text[at++] = word[i];
  }
}

static void show(const char* what, int result, const z_stream* s) {
  printf("%s: %d %s in %lu out %lu left %u %u adler %lx type %d\n", what, result,
         s->msg != NULL ? s->msg : "-", s->total_in, s->total_out, s->avail_in, s->avail_out,
         s->adler, s->data_type);
}

static void pack(int window_bits) {
  z_stream s = {0};
  deflateInit2(&s, 1, Z_DEFLATED, window_bits, 8, 0);
  packed_size = deflateBound(&s, kSize);
  packed = malloc(packed_size);
  s.next_in = text;
  s.avail_in = kSize;
  s.next_out = packed;
  s.avail_out = packed_size;
  deflate(&s, Z_FINISH);
  packed_size = s.total_out;
  deflateEnd(&s);
}

/* Decodes in pieces; at `fork_at` bytes a child goes on with its own copy. */
static void decode(int window_bits, uInt in_piece, uInt out_piece, uLong fork_at) {
  z_stream s = {0};
  memset(output, 0, sizeof output);
  printf("init %d\n", inflateInit2(&s, window_bits));
  s.next_out = output;
  int result = Z_OK;
  pid_t child = -1;
  while (result == Z_OK || result == Z_BUF_ERROR) {
    if (s.avail_in == 0) {
      s.next_in = packed + s.total_in;
      s.avail_in = packed_size - s.total_in < in_piece ? packed_size - s.total_in : in_piece;
      if (s.avail_in == 0 && result == Z_BUF_ERROR) break;
    }
    if (s.avail_out == 0) {
      const uLong room = sizeof output - s.total_out;
      s.avail_out = room < out_piece ? room : out_piece;
      if (s.avail_out == 0) break;
    }
    result = inflate(&s, Z_NO_FLUSH);
    if (fork_at != 0 && s.total_out >= fork_at && child < 0) {
      fflush(stdout);
      child = fork();
      if (child != 0) waitpid(child, NULL, 0);
    }
  }
  show(child == 0 ? "child" : "end", result, &s);
  printf("same %d\n", memcmp(text, output, s.total_out) == 0);
  for (size_t i = s.total_out; i < sizeof output; ++i)
    if (output[i] != 0) { puts("written behind the end"); break; }
  show("again", inflate(&s, Z_FINISH), &s);
  printf("end %d, again %d\n", inflateEnd(&s), inflateEnd(&s));
  if (child == 0) { fflush(stdout); _exit(0); }
}

static void* decode_in_thread(void* result) {
  unsigned char* to = malloc(kSize);
  uLongf size = kSize;
  *(int*)result = uncompress(to, &size, packed, packed_size) * 2 + memcmp(to, text, kSize);
  free(to);
  return NULL;
}

static void checksums(void) {
  static const size_t kSizes[] = {0, 1, 255, 8191, 8192, 8193, 100001, kSize};
  printf("%lx %lx\n", crc32(5, NULL, 0), adler32(5, NULL, 0));
  printf("%lx %lx\n", crc32(5, NULL, 100000), adler32(5, NULL, 100000));
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes; ++i) {
      const size_t size = kSizes[i];
      const unsigned char* from = text + (size < kSize ? i : 0);
      printf("%zu %lx %lx %lx %lx %lx\n", size, crc32(7, from, size), crc32_z(~0ul, from, size),
             adler32(1, from, size), adler32_z(0x12345678, from, size),
             adler32(0xffffffff, from, size));
    }
  }
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  fill();
  if (!strcmp(mode, "checksums")) {
    checksums();
  } else if (!strcmp(mode, "uncompress")) {
    pack(15);
    for (int i = 0; i < 3; ++i) {
      uLongf size = i == 2 ? 1000000 : sizeof output;
      uLong used = packed_size;
      memset(output, 0, sizeof output);
      const int result = i == 1 ? uncompress2(output, &size, packed, &used)
                                : uncompress(output, &size, packed, packed_size);
      printf("%d %lu %lu %d %d\n", result, size, used, memcmp(output, text, size), output[kSize]);
    }
  } else if (!strcmp(mode, "odd")) {
    pack(15);
    for (int i = 0; i < 8; ++i) {
      uLongf size = i == 0 ? 0 : i == 1 ? kSize : sizeof output;
      uLong used = i == 2 ? packed_size - 1 : i == 3 ? 40000 : i == 4 ? 32767 : packed_size;
      unsigned char* from = packed;
      if (i == 5) packed[packed_size / 2] ^= 0x11;
      if (i == 6) packed[0] ^= 1;
      if (i == 7) { /* and a tail, and the input where the output goes */
        pack(15);
        memcpy(output + kSize + 100 - packed_size, packed, packed_size);
        from = output + kSize + 100 - packed_size;
        size = 50000;
      } else memset(output, 9, sizeof output);
      const int result = uncompress2(output, &size, from, &used);
      printf("%d %lu %lu %lx\n", result, size, used, crc32(0, output, sizeof output));
      memset(output, 9, sizeof output);
      printf("%d %lu %lx\n", uncompress(output, &size, packed, packed_size), size,
             crc32(0, output, sizeof output));
    }
  } else if (!strcmp(mode, "pieces")) {
    static const int kBits[] = {15, -15, 31};
    for (int i = 0; i < 3; ++i) {
      pack(kBits[i]);
      decode(kBits[i], 8192, 16384, 0);
      decode(kBits[i], 1 << 30, 100000, 0);
      decode(kBits[i] > 0 ? 47 : -15, 100000, 1 << 30, 0);
    }
  } else if (!strcmp(mode, "damaged")) {
    for (uLong at = 40000; at < 240000; at += 40000) {
      pack(15);
      packed[at] ^= 0x40;
      decode(15, 50000, 60000, 0);
    }
    pack(31);
    packed[packed_size - 1] ^= 1;
    decode(31, 1 << 30, 1 << 30, 0);
  } else if (!strcmp(mode, "fork")) {
    pack(31);
    decode(31, 20000, 50000, 1000000);
  } else if (!strcmp(mode, "threads")) {
    pthread_t threads[4];
    int results[4];
    pack(15);
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, decode_in_thread, &results[i]);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    printf("%d %d %d %d\n", results[0], results[1], results[2], results[3]);
  } else if (!strcmp(mode, "gz")) {
    gzFile file = gzopen(argv[2], "wb");
    for (int member = 0; member < 2; ++member) gzwrite(file, text, kSize);
    gzclose(file);
    file = gzopen(argv[2], "rb");
    int got;
    uLong total = 0, crc = 0;
    while ((got = gzread(file, output, 70000)) > 0) {
      total += got;
      crc = crc32(crc, output, got);
    }
    printf("%lu %lx %d", total, crc, gzeof(file));
    printf(" %ld", (long)gzseek(file, 1234567, SEEK_SET));
    printf(" %d", gzread(file, output, 100));
    printf(" %d\n", gzclose(file));
  } else if (!strcmp(mode, "small")) {
    pack(15);
    packed_size = 20000;
    decode(15, 8192, 16384, 0);
  }
  return 0;
}
"""

# A program whose zlib nobody else sees: the search order does not lead from us to it.
LOCAL = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long uLong;
int main(int argc, char** argv) {
  void* user = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (user == NULL) return 9;
  int (*work)(void) = (int (*)(void))dlsym(user, "work");
  printf("%d\n", work());
  return 0;
}
"""

LIBRARY = r"""
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
int work(void) {
  uLong size = 4 << 20, packed = compressBound(size);
  unsigned char *text = malloc(size), *to = malloc(packed);
  for (uLong i = 0; i < size; ++i) text[i] = (i * i >> 9) % 251;
  compress2(to, &packed, text, size, 1);
  unsigned char* back = malloc(size);
  if (uncompress(back, &size, to, packed) != Z_OK || memcmp(text, back, size) != 0) return 1;
  return (int)(crc32(0, text, size) % 1000) + 2;
}
"""

# Functions of these names that are not zlib's.
NAMESAKES = r"""
unsigned crc32(unsigned a, const char* text, unsigned long b) { return a + text[0] + b; }
int inflate(int pressure, int times) { return pressure * times; }
int work(void) { return crc32(5, "a", 1ul << 20) + inflate(25, 10000); }
"""

PYTHON = r"""
import gzip, io, random, sys, zipfile, zlib
random.seed(4)
words = [str(random.randrange(10**6)) for _ in range(5000)]
data = " ".join(random.choices(words, k=300000)).encode()
for bits in (15, -15, 31):
    packer = zlib.compressobj(1, zlib.DEFLATED, bits)
    packed = packer.compress(data) + packer.flush()
    assert zlib.decompress(packed, bits) == data
    unpacker = zlib.decompressobj(bits)
    got = b""
    rest = packed + b"tail"
    while not unpacker.eof:
        got += unpacker.decompress(rest, 100000)
        rest = unpacker.unconsumed_tail
    assert got == data and unpacker.unused_data == b"tail"
    for damaged in (packed[:-1], packed[:len(packed) // 2] + b"\x55" * 9 + packed[-9:]):
        try:
            print(bits, zlib.crc32(zlib.decompress(damaged, bits)))
        except zlib.error as error:
            print(bits, error)
packed = gzip.compress(data, 1) * 2
assert gzip.GzipFile(fileobj=io.BytesIO(packed)).read() == data * 2
archive = io.BytesIO()
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
    target.writestr("name", data)
with zipfile.ZipFile(archive) as source:
    assert source.read("name") == data and source.testzip() is None
print(zlib.crc32(data), zlib.adler32(data))
"""


def setUpModule():
    global SCRATCH, PATH, LOADER, USER, NAMES
    SCRATCH = Scratch()
    PATH = compile_c(PROGRAM, SCRATCH.path / "decoder", "-O1", "-w", "-pthread", "-lz")
    if PATH is None:
        SCRATCH.close()
        raise unittest.SkipTest("no C compiler, or no zlib to develop with")
    NAMES = compile_c(NAMESAKES, SCRATCH.path / "libnames.so", "-O0", "-w", "-shared", "-fPIC")
    LOADER = compile_c(LOCAL, SCRATCH.path / "loader", "-w", "-ldl")
    USER = compile_c(LIBRARY, SCRATCH.path / "libuser.so", "-w", "-shared", "-fPIC", "-lz")


def tearDownModule():
    SCRATCH.close()


NOTHING = {"calls": 0, "bytes": 0, "implementations": {}, "passed": {}}


class ZlibCase(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = pathlib.Path(home.name)

    def both(self, *command, options=(), hoist=HOIST, cwd=None, **variables):
        """Runs it plain and under Hoist: same output and status. The counts by operation."""
        env = environment(HOME=str(self.home), XDG_CACHE_HOME=str(self.home), **variables)
        stats = self.home / "stats.json"
        plain = run(*command, env=env, cwd=cwd or self.home)
        done = run(hoist, "run", f"--stats={stats}", *options, "--", *command, env=env,
                   cwd=cwd or self.home)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout))
        self.assertEqual(plain.returncode, 0, plain.stderr)
        counts = json.loads(stats.read_text())["operations"]
        return {name: counts.get(name, NOTHING) for name in ("crc32", "inflate")}, done


@unittest.skipUnless((BUILD / "lib/libhoist_inflate.so").exists(),
                     "the engines are not built in this preset")
class Taken(ZlibCase):
    def test_checksums(self):
        counts, _ = self.both(PATH, "checksums")
        self.assertGreater(counts["crc32"]["calls"], 10)
        self.assertEqual(counts["crc32"]["passed"], {})

    def test_whole_streams(self):
        counts, _ = self.both(PATH, "uncompress")
        self.assertGreaterEqual(counts["inflate"]["calls"], 3)
        self.assertEqual(counts["inflate"]["bytes"], 2 * (2 << 20) + 1000000)

    def test_uncompress_of_a_zlib_that_binds_its_own_calls(self):
        folder = self_bound_zlib(SCRATCH.path)
        if folder is None:
            self.skipTest("no static zlib, or no linker for it")
        counts, _ = self.both(PATH, "uncompress", LD_LIBRARY_PATH=str(folder))
        self.assertGreaterEqual(counts["inflate"]["bytes"], 2 * (2 << 20))
        self.both(PATH, "odd", LD_LIBRARY_PATH=str(folder))
        self.both(PATH, "odd", LD_LIBRARY_PATH=str(folder), options=["--ops=-inflate"])

    def test_streams_that_do_not_end_well(self):
        self.both(PATH, "odd")

    def test_pieces(self):
        counts, _ = self.both(PATH, "pieces")
        self.assertGreaterEqual(counts["inflate"]["calls"], 8)

    def test_damaged_streams(self):
        counts, _ = self.both(PATH, "damaged")
        self.assertGreaterEqual(counts["inflate"]["calls"], 5)

    def test_fork_in_the_middle(self):
        counts, _ = self.both(PATH, "fork")
        self.assertEqual(counts["inflate"]["calls"], 2)

    def test_threads(self):
        counts, _ = tried_until(lambda seen: seen[0]["inflate"]["calls"] >= 1,
                                lambda: self.both(PATH, "threads"))
        self.assertGreaterEqual(counts["inflate"]["calls"], 1)  # one loads, others do not wait

    def test_gz_functions(self):
        counts, _ = self.both(PATH, "gz", "file.gz")
        self.assertGreater(counts["inflate"]["bytes"], 3 << 20)

    def test_small_streams_are_not_counted(self):
        counts, _ = self.both(PATH, "small")
        self.assertEqual(counts["inflate"], NOTHING)

    def test_library_that_nobody_else_sees(self):
        counts, _ = self.both(LOADER, USER)
        self.assertEqual((counts["inflate"]["calls"], counts["inflate"]["bytes"]), (1, 4 << 20))
        self.assertGreaterEqual(counts["crc32"]["calls"], 1)

    def test_python(self):
        counts, _ = self.both(sys.executable, "-c", PYTHON)
        self.assertGreater(counts["inflate"]["bytes"], 12 << 20)

    def test_verify(self):
        for mode in ("pieces", "damaged"):
            counts, done = self.both(PATH, mode, options=["--verify=1"])
            self.assertGreater(counts["inflate"]["passed"]["verify: same"], 3)
            self.assertEqual(set(counts["inflate"]["passed"]), {"verify: same"}, done.stderr)
        counts, _ = self.both(PATH, "checksums", options=["--verify=1"])
        self.assertEqual(set(counts["crc32"]["passed"]), {"verify: same"})

    def test_note_switches_it_off(self):
        (self.home / "hoist").mkdir()
        (self.home / "hoist/switched-off").write_text("inflate differed\n")
        counts, _ = self.both(PATH, "pieces")
        self.assertEqual(counts["inflate"]["calls"], 0)
        self.assertIn("switched off by --verify", counts["inflate"]["passed"])


class Untouched(ZlibCase):
    def test_switched_off(self):
        counts, _ = self.both(PATH, "pieces", options=["--ops=-inflate,-crc32"])
        for operation in ("inflate", "crc32"):
            self.assertEqual(counts[operation]["calls"], 0)
            self.assertIn("switched off by HOIST_OPS", counts[operation]["passed"])
        counts, _ = self.both(PATH, "pieces", HOIST="off")
        self.assertEqual((counts["inflate"]["calls"], counts["crc32"]["calls"]), (0, 0))

    def test_functions_that_are_looked_up(self):
        """zlib's own inflateInit_() goes on in inflateInit2_() by its name, and so comes to us."""
        code = ("import ctypes, sys, zlib; z = ctypes.CDLL('libz.so.1'); "
                "stream = (ctypes.c_uint64 * 14)(); text = b'hello ' * 200000; "
                "packed = zlib.compress(text); room = ctypes.create_string_buffer(len(text)); "
                "stream[0] = ctypes.cast(packed, ctypes.c_void_p).value; stream[1] = len(packed); "
                "stream[3] = ctypes.addressof(room); stream[4] = len(text); "
                "print(z.inflateInit_(stream, b'1.2.13', 112), z.inflate(stream, 4), "
                "z.inflateEnd(stream), room.raw == text)")
        self.both(sys.executable, "-c", code)

    def test_functions_that_only_have_the_names(self):
        self.both(LOADER, NAMES)
        self.both(LOADER, NAMES, LD_PRELOAD=str(NAMES))

    def test_engine_is_missing(self):
        tree = SCRATCH.tree("no-engine")
        counts, _ = self.both(PATH, "pieces", hoist=tree / "bin/hoist")
        self.assertEqual(counts["inflate"]["calls"], 0)
        self.assertIn("engine not found", counts["inflate"]["passed"])

    @unittest.skipUnless((EXAMPLES / "example.c").exists(), "zlib's examples are not installed")
    def test_zlibs_own_programs(self):
        source = (EXAMPLES / "example.c").read_text()
        example = compile_c(source, SCRATCH.path / "example", "-w", "-lz")
        self.both(example, self.home / "file.gz")
        minigzip = compile_c((EXAMPLES / "minigzip.c").read_text(), SCRATCH.path / "minigzip",
                             "-w", "-lz")
        text = self.home / "text"
        text.write_bytes(SCRATCH.big.read_bytes() * 3)
        run(minigzip, text)
        self.both(minigzip, "-c", "-d", self.home / "text.gz")
        self.assertEqual(run(minigzip, "-c", "-d", self.home / "text.gz").stdout,
                         SCRATCH.big.read_bytes() * 3)


if __name__ == "__main__":
    unittest.main()
