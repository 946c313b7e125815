#!/usr/bin/env python3
"""zlib's compression in programs that run under Hoist: the same content on request, the very same
bytes, return values and fields wherever zlib does the work."""

import json
import pathlib
import random
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, Scratch, compile_c, environment, run, self_bound_zlib

ENGINE = BUILD / "lib/libhoist_deflate.so"

# Random sequences of calls. What the engine may do is told by content, everything else by bytes.
PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { kMost = 700000, kRoom = 2 * kMost };
static Bytef input[kMost], output[kRoom], content[kMost];
static uint64_t state;

static unsigned below(unsigned bound) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % bound;
}
static void fill(void) {
  const unsigned kind = below(4);
  for (size_t i = 0; i < kMost; ++i) {
    input[i] = kind == 0 ? below(256) : kind == 1 ? 'x' : (Bytef)"etaoin shrdlu\n"[below(14) * below(14) / 13];
  }
  if (kind == 3) input[below(kMost)] = 1;
}
static uLong checksum(const Bytef* data, size_t size) { return crc32(0, data, (uInt)size); }

static void tell(const char* what, int result, z_streamp s, int by_content) {
  printf("%s %d in %u %lu data %d", what, result, s->avail_in, s->total_in, s->data_type);
  if (by_content) printf("\n");
  else printf(" out %u %lu adler %lx bytes %lx\n", s->avail_out, s->total_out, s->adler,
              checksum(output, s->total_out < kRoom ? s->total_out : kRoom));
}
/* Whether zlib gets the input back, and no more. */
static void tell_content(int bits, uLong size, uLong expected, const Bytef* dict, uInt dict_size) {
  z_stream s = {0};
  inflateInit2(&s, bits);
  if (bits < 0 && dict != NULL) inflateSetDictionary(&s, dict, dict_size);
  s.next_in = output, s.avail_in = (uInt)size, s.next_out = content, s.avail_out = kMost;
  int result = inflate(&s, Z_FINISH);
  if (result == Z_NEED_DICT) {
    inflateSetDictionary(&s, dict, dict_size);
    result = inflate(&s, Z_FINISH);
  }
  printf("inflate %d %u %d\n", result, s.avail_in,
         s.total_out == expected && memcmp(input, content, expected) == 0);
  inflateEnd(&s);
}
static int after_the_end(z_streamp s) {
  int value = 0;
  unsigned pending = 0;
  z_stream copy;
  Bytef none[8];
  switch (below(9)) {
    case 0: return deflate(s, Z_FINISH);
    case 1: return deflate(s, Z_NO_FLUSH);
    case 2: s->avail_out = 0; return deflate(s, Z_FINISH);
    case 3: return deflateParams(s, (int)below(10), Z_DEFAULT_STRATEGY);
    case 4: return deflateTune(s, 4, 4, 4, 4);
    case 5: value = deflatePending(s, &pending, NULL); return value * 1000 + (int)pending;
    case 6:
      value = deflateCopy(&copy, s);
      if (value != Z_OK) return value;
      copy.next_out = none, copy.avail_out = sizeof none;
      value = deflate(&copy, Z_FINISH) * 10 + deflateEnd(&copy);
      return value;
    case 7: return deflatePrime(s, 3, 5);
    default: s->avail_in = 1; s->next_in = input; return deflate(s, Z_FINISH);
  }
}
static void sequence(uint64_t seed, int large_only) {
  static const int kSizes[] = {0, 1, 5000, 65535, 65536, 200000, 524288, 600001};
  static const int kBits[] = {15, 15, 15, 31, 31, -15, -15, 12, 28, -9};
  state = seed;
  fill();
  int level = below(8) == 0 ? 0 : (int)below(10) - 1;
  int strategy = below(6) == 0 ? (int)below(5) : Z_DEFAULT_STRATEGY;
  const int bits = large_only ? kBits[below(7)] : kBits[below(10)];
  const int memory = below(5) == 0 ? 1 + (int)below(9) : 8;
  z_stream s = {0};
  printf("seed %lu\n", (unsigned long)seed);
  int result = bits == 15 && memory == 8 && strategy == 0
                   ? deflateInit(&s, level)
                   : deflateInit2(&s, level, Z_DEFLATED, bits, memory, strategy);
  printf("init %d\n", result);
  if (result != Z_OK) return;
  for (int round = 0; round < 3; ++round) {
    const int size = large_only ? 600001 : kSizes[below(8)];
    int only_zlib = bits != 15 && bits != 31 && bits != -15;
    const Bytef* dict = NULL;
    gz_header header = {.os = 3, .name = (Bytef*)"name"};
    s.next_in = input, s.avail_in = (uInt)size, s.next_out = output, s.avail_out = kRoom;
    switch (large_only ? 9 : below(10)) {
      case 0:
        dict = input;
        result = deflateSetDictionary(&s, dict, 20000);
        if (result != Z_OK) dict = NULL;
        only_zlib = 1;
        break;
      case 1: result = bits < 0 ? deflatePrime(&s, 8, 0) : 0; only_zlib |= bits < 0; break;
      case 2: result = deflateTune(&s, 8, 16, 32, 64); only_zlib = 1; break;
      case 3: result = deflateSetHeader(&s, &header); only_zlib |= result == Z_OK; break;
      case 4:
        level = (int)below(10), strategy = below(5);
        result = deflateParams(&s, level, strategy);
        break;
      case 5: s.data_type = Z_TEXT; break;
      case 6: s.avail_out = (uInt)below(2 * (unsigned)size + 20); break;
      default: result = 0;
    }
    printf("before %d\n", result);
    const int whole = large_only || below(3) != 0;
    const int by_content = whole && !only_zlib && size >= 65536;
    if (whole) {
      result = deflate(&s, Z_FINISH);
      tell("whole", result, &s, by_content);
      if (result == Z_STREAM_END && bits != -9) printf("adler %lx\n", bits == -15 ? 0 : s.adler);
    } else {
      s.avail_in = 0;
      for (int at = 0; at < size || at == 0;) {
        const int part = size == 0 ? 0 : 1 + (int)below((unsigned)size);
        s.next_in = input + at, s.avail_in = (uInt)(at + part < size ? part : size - at);
        at += (int)s.avail_in + (size == 0);
        result = deflate(&s, at < size ? (int)below(4) : Z_FINISH);
        tell("part", result, &s, 0);
      }
    }
    if (result == Z_STREAM_END && bits != -9) {
      const int primed = 0;
      if (!primed) tell_content(bits, s.total_out, (uLong)size, dict, 20000);
      for (int i = 0; i < 3; ++i) printf("after %d\n", after_the_end(&s));
    }
    result = deflateReset(&s);
    printf("reset %d\n", result);
    if (bits == 31) deflateSetHeader(&s, NULL);
  }
  printf("end %d\n", deflateEnd(&s));
}
static void one_shots(void) {
  state = 5;
  fill();
  for (int level = -1; level <= 10; ++level) {
    uLongf size = compressBound(kMost);
    int result = compress2(output, &size, input, kMost, level);
    printf("compress2 %d\n", result);
    if (result == Z_OK) tell_content(15, size, kMost, NULL, 0);
  }
  uLongf size = compressBound(kMost);
  printf("compress %d\n", compress(output, &size, input, kMost));
  tell_content(15, size, kMost, NULL, 0);
  size = 1000;
  printf("no room %d %lu\n", compress(output, &size, input, kMost), size);
}
/* By bytes wherever zlib does the work: small inputs, little room, levels that are none. */
static void rooms(void) {
  static const uLong kSizes[] = {0, 1, 1000, 65535, 65536, 200000};
  static const int kLevels[] = {Z_DEFAULT_COMPRESSION, 0, 1, 6, 9, 10, -2};
  for (unsigned i = 0; i < 6 * 7 * 7; ++i) {
    const uLong size = kSizes[i % 6], bound = compressBound(size);
    const uLong kRooms[] = {0, 1, 100, size / 2, bound - 1, bound, bound + 99};
    const int level = kLevels[i / 6 % 7];
    const uLong room = kRooms[i / 42];
    if (i % 42 == 0) state = i, fill();
    memset(output, 7, room + 5000);
    uLongf got = room;
    const int result = level == Z_DEFAULT_COMPRESSION ? compress(output, &got, input, size)
                                                      : compress2(output, &got, input, size, level);
    printf("%lu at %d into %lu: %d", size, level, room, result);
    const int by_content = size >= 65536 && room >= bound && level != 0 && result == Z_OK;
    if (by_content) tell_content(15, got, size, NULL, 0);
    else printf(" %lu %lx\n", got, checksum(output, room));
    for (uLong at = room; at < room + 5000; ++at)
      if (output[at] != 7) { puts("written behind the room"); break; }
  }
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  const unsigned count = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
  if (!strcmp(mode, "one-shots")) one_shots();
  if (!strcmp(mode, "rooms")) rooms();
  if (!strcmp(mode, "sequences")) for (unsigned i = 0; i < count; ++i) sequence(seed + i, 0);
  if (!strcmp(mode, "large")) for (unsigned i = 0; i < count; ++i) sequence(seed + i, 1);
  if (!strcmp(mode, "fork")) {
    sequence(seed, 1);
    fflush(stdout);
    if (fork() == 0) {
      sequence(seed + 1, 1);
      fflush(stdout);
      _exit(0);
    }
    wait(NULL);
  }
  if (!strcmp(mode, "bytes")) {
    z_stream s = {0};
    state = 9;
    fill();
    deflateInit(&s, 6);
    s.next_in = input, s.avail_in = kMost, s.next_out = output, s.avail_out = kRoom;
    deflate(&s, Z_FINISH);
    printf("%lu %lx\n", s.total_out, checksum(output, s.total_out));
    deflateEnd(&s);
  }
  if (!strcmp(mode, "gz")) {
    gzFile file = gzopen("/dev/stdout", "wb6");
    state = 9;
    fill();
    gzwrite(file, input, kMost);
    gzclose(file);
  }
  return 0;
}
"""


def setUpModule():
    global SCRATCH, PROGRAM_PATH
    SCRATCH = Scratch()
    PROGRAM_PATH = compile_c(PROGRAM, SCRATCH.path / "program", "-O1", "-w", "-lz")
    if PROGRAM_PATH is None:
        SCRATCH.close()
        raise unittest.SkipTest("no C compiler or no zlib")


def tearDownModule():
    SCRATCH.close()


class DeflateCase(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = pathlib.Path(home.name)

    def both(self, *command, options=("--ops=+deflate",), hoist=HOIST, **variables):
        """Runs it plain and under Hoist: same streams and status. The counts about deflate."""
        env = environment(HOME=str(self.home), XDG_CACHE_HOME=str(self.home), **variables)
        stats = self.home / "stats.json"
        plain = run(*command, env=env)
        done = run(hoist, "run", f"--stats={stats}", *options, "--", *command, env=env)
        self.assertEqual(done.stdout.splitlines(), plain.stdout.splitlines())
        self.assertEqual((done.returncode, plain.returncode), (0, 0), done.stderr)
        return json.loads(stats.read_text())["operations"].get(
            "deflate", {"calls": 0, "bytes": 0, "implementations": {}, "passed": {}}), done

    def program(self, mode, *more, **options):
        return self.both(PROGRAM_PATH, mode, *[str(word) for word in more], **options)


@unittest.skipUnless(ENGINE.exists(), "the engine is not built in this preset")
class Requested(DeflateCase):
    def test_compress(self):
        counts, _ = self.program("one-shots")
        # Levels -1 and 1 to 9, and compress().
        self.assertEqual((counts["calls"], counts["passed"]),
                         (11, {"less room than compressBound()": 1}))

    def test_compress_of_a_zlib_that_binds_its_own_calls(self):
        folder = self_bound_zlib(SCRATCH.path)
        if folder is None:
            self.skipTest("no static zlib, or no linker for it")
        counts, _ = self.program("one-shots", LD_LIBRARY_PATH=str(folder))
        self.assertEqual((counts["calls"], counts["passed"]),
                         (11, {"less room than compressBound()": 1}))
        self.program("rooms", LD_LIBRARY_PATH=str(folder))

    def test_compress_into_any_room(self):
        counts, _ = self.program("rooms")
        # Two sizes into two rooms at four levels; as many of four rooms that are smaller.
        self.assertEqual((counts["calls"], counts["passed"]),
                         (16, {"less room than compressBound()": 40}))
        self.program("rooms", options=[])
        counts, done = self.program("rooms", options=["--ops=+deflate", "--verify=1"])
        self.assertIn(b"deflate: 16 verified, 0 mismatch", done.stderr)

    def test_whole_streams(self):
        counts, _ = self.program("large", 1, 12)
        self.assertGreater(counts["calls"], 12)
        self.assertEqual(counts["bytes"], counts["calls"] * 600001)

    def test_random_sequences(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        counts, _ = self.program("sequences", seed, 60)
        self.assertGreater(counts["calls"], 0)

    def test_fork(self):
        self.program("fork", 3)

    def test_one_thread(self):
        counts, _ = self.program("large", 1, 2, HOIST_THREADS="1")
        self.assertEqual(list(counts["implementations"]), ["cpu-1"])

    def test_streams_in_pieces_are_zlibs(self):
        counts, _ = self.program("gz")
        self.assertEqual(counts["calls"], 0)

    def test_verify(self):
        counts, done = self.program("large", 1, 4, options=["--ops=+deflate", "--verify=1"])
        self.assertEqual(counts["passed"]["verify: same"], counts["calls"])
        self.assertIn(b"deflate: %d verified, 0 mismatch" % counts["calls"], done.stderr)

    def test_note_switches_it_off(self):
        (self.home / "hoist").mkdir()
        (self.home / "hoist/switched-off").write_text("deflate differed\n")
        counts, _ = self.program("bytes")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"switched off by --verify": 1}))


class Untouched(DeflateCase):
    def test_off_by_default(self):
        counts, _ = self.program("bytes", options=[])
        self.assertEqual((counts["calls"], counts["passed"]),
                         (0, {"only on request (HOIST_OPS)": 1}))
        self.program("sequences", 7, 10, options=[])

    def test_switched_off(self):
        self.program("bytes", options=["--ops=-deflate"])
        self.program("bytes", HOIST="off")

    def test_engine_is_missing(self):
        tree = SCRATCH.tree("no-engine")
        counts, _ = self.program("bytes", hoist=tree / "bin/hoist")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"engine not found": 1}))


if __name__ == "__main__":
    unittest.main()
