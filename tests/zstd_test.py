#!/usr/bin/env python3
"""libzstd in programs that run under Hoist: the same results, counted, and harmless."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, Scratch, compile_c, environment, run, tried_until

ENGINE = BUILD / "lib/libhoist_zstd.so"

# Prints what each call returned, and a checksum of what it wrote.
PROGRAM = r"""
#define _GNU_SOURCE
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kFrames = 6, kFrame = 1 << 20, kContent = kFrames * kFrame };
static char* content;
static char* frames;
static size_t size;
static char* room;

static void tell(const char* what, size_t result) {
  uint64_t hash = 14695981039346656037u;
  if (!ZSTD_isError(result)) {
    for (size_t i = 0; i < result; ++i) hash = (hash ^ (unsigned char)room[i]) * 1099511628211u;
  }
  printf("%s %zu %s %016lx\n", what, ZSTD_isError(result) ? 0 : result,
         ZSTD_isError(result) ? ZSTD_getErrorName(result) : "", (unsigned long)hash);
  fflush(stdout);
}
static void make_content(void) {
  uint64_t state = 1;
  content = malloc(kContent);
  room = malloc(2 * kContent);
  for (size_t i = 0; i < kContent; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    content[i] = "etaoin shrdlu\n"[(state >> 33) % 14 * (state >> 60) / 16];
  }
}
static void make_frames(const void* dict, size_t dict_size) {
  ZSTD_CCtx* cctx = ZSTD_createCCtx();
  frames = malloc(2 * kContent);
  size = 0;
  for (int i = 0; i < kFrames; ++i) {
    size += ZSTD_compress_usingDict(cctx, frames + size, 2 * kContent - size, content + i * kFrame,
                                    kFrame, dict, dict_size, 1);
  }
  ZSTD_freeCCtx(cctx);
}
static void* decompress_in_thread(void* unused) {
  tell("thread", ZSTD_decompress(room, kContent, frames, size));
  return unused;
}
static void unlock(int number, siginfo_t* info, void* unused) {
  (void)number, (void)unused;
  if (gettid() != getpid()) _exit(9);
  mprotect((void*)((unsigned long)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  make_content();
  ZSTD_DCtx* dctx = ZSTD_createDCtx();
  ZSTD_CCtx* cctx = ZSTD_createCCtx();
  if (!strcmp(mode, "plain")) {
    make_frames(NULL, 0);
    tell("decompress", ZSTD_decompress(room, kContent, frames, size));
    tell("context", ZSTD_decompressDCtx(dctx, room, kContent, frames, size));
    tell("dictionary", ZSTD_decompress_usingDict(dctx, room, kContent, frames, size, NULL, 0));
    tell("digested", ZSTD_decompress_usingDDict(dctx, room, kContent, frames, size, NULL));
  } else if (!strcmp(mode, "errors")) {
    make_frames(NULL, 0);
    tell("room", ZSTD_decompress(room, kContent - 1, frames, size));
    tell("cut", ZSTD_decompress(room, kContent, frames, size - 1));
    frames[size] = 1;
    tell("garbage", ZSTD_decompress(room, kContent, frames, size + 9));
    frames[size / 2] ^= 0x55;
    tell("damaged", ZSTD_decompressDCtx(dctx, room, kContent, frames, size));
  } else if (!strcmp(mode, "dictionaries")) {
    make_frames(content, 30000);
    ZSTD_DDict* ddict = ZSTD_createDDict(content, 30000);
    tell("used", ZSTD_decompress_usingDict(dctx, room, kContent, frames, size, content, 30000));
    tell("digested", ZSTD_decompress_usingDDict(dctx, room, kContent, frames, size, ddict));
    ZSTD_DCtx_loadDictionary(dctx, content, 30000);
    tell("loaded", ZSTD_decompressDCtx(dctx, room, kContent, frames, size));
    ZSTD_DCtx* other = ZSTD_createDCtx();
    ZSTD_DCtx_refDDict(other, ddict);
    tell("referenced", ZSTD_decompressDCtx(other, room, kContent, frames, size));
    ZSTD_DCtx* third = ZSTD_createDCtx();
    ZSTD_DCtx_refPrefix(third, content, 30000);
    tell("prefix", ZSTD_decompressDCtx(third, room, kContent, frames, size));
    tell("none", ZSTD_decompressDCtx(third, room, kContent, frames, size));
  } else if (!strcmp(mode, "settings")) {
    make_frames(NULL, 0);
    ZSTD_DCtx_setParameter(dctx, ZSTD_d_windowLogMax, 11);
    tell("window", ZSTD_decompressDCtx(dctx, room, kContent, frames, size));
    ZSTD_DCtx_setParameter(dctx, ZSTD_d_format, ZSTD_f_zstd1_magicless);
    tell("format", ZSTD_decompressDCtx(dctx, room, kContent, frames, size));
  } else if (!strcmp(mode, "stream")) {
    make_frames(NULL, 0);
    ZSTD_inBuffer in = {frames, size, 0};
    ZSTD_outBuffer out = {room, kContent, 0};
    while (in.pos < in.size) {
      const size_t left = ZSTD_decompressStream(dctx, &out, &in);
      printf("%zu %zu %zu\n", left, in.pos, out.pos);
    }
    tell("stream", out.pos);
  } else if (!strcmp(mode, "fork")) {
    make_frames(NULL, 0);
    tell("parent", ZSTD_decompress(room, kContent, frames, size));
    if (fork() == 0) {
      tell("child", ZSTD_decompress(room, kContent, frames, size));
      _exit(0);
    }
    wait(NULL);
  } else if (!strcmp(mode, "vfork")) {
    make_frames(NULL, 0);
    if (vfork() == 0) {
      ZSTD_decompress(room, kContent, frames, size);
      _exit(0);
    }
    wait(NULL);
    tell("child's", kContent);
  } else if (!strcmp(mode, "thread")) {
    pthread_t thread;
    make_frames(NULL, 0);
    pthread_create(&thread, NULL, decompress_in_thread, NULL);
    pthread_join(thread, NULL);
  } else if (!strcmp(mode, "watched-pages")) {
    struct sigaction action = {.sa_sigaction = unlock, .sa_flags = SA_SIGINFO};
    make_frames(NULL, 0);
    sigaction(SIGSEGV, &action, NULL);
    room = mmap(NULL, kContent, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tell("watched", ZSTD_decompress(room, kContent, frames, size));
    tell("open", ZSTD_decompress(room, kContent, frames, size));
  } else if (!strcmp(mode, "in-place")) {
    make_frames(NULL, 0);
    memmove(room + 2 * kContent - size, frames, size);
    tell("in place", ZSTD_decompress(room, 2 * kContent, room + 2 * kContent - size, size));
  } else if (!strcmp(mode, "sequences")) {
    ZSTD_Sequence* sequences = malloc(kContent * sizeof *sequences);
    printf("%zu\n", ZSTD_generateSequences(cctx, sequences, kContent, content, kContent));
  } else if (!strcmp(mode, "compress")) {
    /* Compressed bytes may differ, content and headers not. */
    const size_t bound = ZSTD_compressBound(kContent);
    char* frame = malloc(bound);
    ZSTD_inBuffer in = {content, kContent, 0};
    ZSTD_outBuffer out = {frame, bound, 0};
    for (int way = 0; way < 5; ++way) {
      size_t done = 0;
      if (way == 0) done = ZSTD_compress(frame, bound, content, kContent, 1);
      if (way == 1) done = ZSTD_compressCCtx(cctx, frame, bound, content, kContent, 5);
      if (way == 2) ZSTD_CCtx_setParameter(cctx, ZSTD_c_checksumFlag, 1);
      if (way == 2) done = ZSTD_compress2(cctx, frame, bound, content, kContent);
      if (way == 3) printf("%zu %zu\n", ZSTD_compressStream2(cctx, &out, &in, ZSTD_e_end), in.pos);
      if (way == 3) done = out.pos;
      if (way == 4) ZSTD_CCtx_loadDictionary(cctx, content, 30000);
      if (way == 4) done = ZSTD_compress2(cctx, frame, bound, content, kContent);
      ZSTD_frameHeader header;
      ZSTD_getFrameHeader(&header, frame, done);
      printf("%llu %u %u\n", header.frameContentSize, header.checksumFlag, header.dictID);
      tell("content", ZSTD_decompress_usingDict(dctx, room, kContent, frame, done, content,
                                                way == 4 ? 30000 : 0));
      if (argc > 2) printf("%zu\n", done);
    }
    size_t small = ZSTD_compress2(cctx, frame, 1000, content, kContent);
    puts(ZSTD_getErrorName(small));
  }
  return 0;
}
"""

# Opens libzstd with RTLD_LOCAL, as languages load their modules.
LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (module == NULL) return 9;
  printf("%zu\n", ((size_t (*)(void))dlsym(module, "run"))());
  size_t (*found)(void*, size_t, const void*, size_t) = dlsym(RTLD_DEFAULT, "ZSTD_decompress");
  if (found != NULL) found(NULL, 0, NULL, 0);
  return 0;
}
"""
MODULE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
size_t run(void) {
  enum { kFrame = 1 << 20 };
  char* content = calloc(3, kFrame);
  char* frames = malloc(4 * kFrame);
  size_t size = 0;
  for (int i = 0; i < 3 * kFrame; ++i) content[i] = (char)(i * 7919 % 257 * i >> 7);
  for (int i = 0; i < 3; ++i) {
    size += ZSTD_compress(frames + size, 4 * kFrame - size, content + i * kFrame, kFrame, 1);
  }
  char* room = malloc(3 * kFrame);
  printf("%zu\n", ZSTD_decompress(room, 3 * kFrame, frames, size));
  return memcmp(room, content, 3 * kFrame) != 0;
}
"""

# A library of its own that goes by the same names, as copies that were linked into modules do.
COPY = r"""
#include <stddef.h>
size_t ZSTD_decompress(void* dst, size_t capacity, const void* src, size_t size) { return 4711; }
size_t ZSTD_DCtx_loadDictionary(void* dctx, const void* dict, size_t size) { return 4712; }
size_t run(void) {
  size_t sum = ZSTD_decompress(NULL, 0, NULL, 0);
  for (int i = 0; i < 3; ++i) sum = 31 * sum + ZSTD_DCtx_loadDictionary(NULL, NULL, 0);
  return sum;
}
"""
LAST_ACT = COPY[:COPY.index("size_t run")] + r"""
size_t run(void) { return ZSTD_decompress(NULL, 0, NULL, 0); }
"""


def setUpModule():
    global SCRATCH, PROGRAM_PATH
    SCRATCH = Scratch()
    PROGRAM_PATH = compile_c(PROGRAM, SCRATCH.path / "program", "-O1", "-w", "-pthread", "-lzstd")
    if PROGRAM_PATH is None:
        SCRATCH.close()
        raise unittest.SkipTest("no C compiler or no libzstd")


def tearDownModule():
    SCRATCH.close()


class ZstdCase(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = pathlib.Path(home.name)

    def both(self, *command, options=(), hoist=HOIST, **variables):
        """Runs it plain and under Hoist: same streams and status. The counts about zstd."""
        env = environment(HOME=str(self.home), XDG_CACHE_HOME=str(self.home), **variables)
        stats = self.home / "stats.json"
        plain = run(*command, env=env)
        done = run(hoist, "run", f"--stats={stats}", *options, "--", *command, env=env)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout))
        self.assertEqual(plain.returncode, 0, plain.stderr)
        return json.loads(stats.read_text())["operations"].get(
            "zstd", {"calls": 0, "bytes": 0, "implementations": {}, "passed": {}}), done

    def program(self, mode, *more, **options):
        return self.both(PROGRAM_PATH, mode, *more, **options)


@unittest.skipUnless(ENGINE.exists(), "the engine is not built in this preset")
class Taken(ZstdCase):
    def setUp(self):
        super().setUp()
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU")

    def test_all_one_shot_calls(self):
        counts, _ = self.program("plain")
        self.assertEqual((counts["calls"], list(counts["implementations"])), (4, ["cpu-all"]))
        self.assertEqual((counts["bytes"], counts["passed"]), (4 * (6 << 20), {}))

    def test_errors_are_the_originals(self):
        counts, _ = self.program("errors")
        self.assertEqual((counts["calls"], sum(counts["passed"].values())), (0, 4))

    def test_dictionaries(self):
        counts, _ = self.program("dictionaries")
        self.assertEqual(counts["calls"], 2)
        self.assertEqual(counts["passed"], {"a context with a dictionary or settings": 4})

    def test_settings(self):
        counts, _ = self.program("settings")
        self.assertEqual(counts["calls"], 1)
        self.assertEqual(counts["passed"], {"a context with a dictionary or settings": 1})

    def test_circumstances(self):
        for mode, calls in (("stream", 0), ("fork", 2), ("vfork", 0), ("thread", 1),
                            ("in-place", 0), ("watched-pages", 1), ("sequences", 0)):
            with self.subTest(mode=mode):
                counts, _ = tried_until(lambda seen: seen[0]["calls"] == calls,
                                        lambda: self.program(mode))
                self.assertEqual(counts["calls"], calls)

    def test_one_thread_leaves_it(self):
        counts, _ = self.program("plain", HOIST_THREADS="1")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"one CPU": 4}))

    def test_verify(self):
        counts, done = self.program("plain", options=["--verify=1"])
        self.assertEqual(counts["passed"], {"verify: same": 4})
        self.assertIn(b"zstd: 4 verified, 0 mismatch", done.stderr)

    def test_note_switches_it_off(self):
        (self.home / "hoist").mkdir()
        (self.home / "hoist/switched-off").write_text("zstd differed\n")
        counts, _ = self.program("plain")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"switched off by --verify": 4}))

    def test_compression_on_request(self):
        for options in (["--ops=+zstd"], ["--ops=+zstd", "--verify=1"]):
            counts, _ = self.program("compress", options=options)
            self.assertEqual(counts["calls"], 4)
            self.assertEqual(counts["passed"].get("verify: same", 0), 4 * (len(options) - 1))

    def test_compression_is_off_by_default(self):
        """The very bytes, then: the sizes are printed."""
        counts, _ = self.program("compress", "sizes")
        self.assertEqual(counts["calls"], 0)
        self.assertEqual(counts["passed"]["only on request (HOIST_OPS)"], 1)

    def test_sequences_on_request(self):
        self.program("sequences", options=["--ops=+zstd"])

    def test_library_that_is_loaded_locally(self):
        module = compile_c(MODULE, SCRATCH.path / "module.so", "-shared", "-fPIC", "-O1", "-w",
                           "-lzstd")
        loader = compile_c(LOADER, SCRATCH.path / "loader", "-O1", "-w", "-ldl")
        counts, _ = self.both(loader, module)
        self.assertEqual(counts["calls"], 1)

    def test_modules_with_copies_of_their_own(self):
        """Nothing else in the process has the library; a call may be a function's last act."""
        loader = compile_c(LOADER, SCRATCH.path / "loader", "-O1", "-w", "-ldl")
        for name, text in (("copy", COPY), ("last-act", LAST_ACT)):
            module = compile_c(text, SCRATCH.path / f"{name}.so", "-shared", "-fPIC", "-O2")
            with self.subTest(module=name):
                self.both(loader, module)


class Untouched(ZstdCase):
    def test_switched_off(self):
        counts, _ = self.program("plain", options=["--ops=-zstd"])
        self.assertEqual((counts["calls"], counts["passed"]),
                         (0, {"switched off by HOIST_OPS": 1}))
        counts, _ = self.program("plain", HOIST="off")
        self.assertEqual(counts["calls"], 0)

    def test_engine_is_missing(self):
        tree = SCRATCH.tree("no-engine")
        counts, _ = self.program("plain", hoist=tree / "bin/hoist")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"engine not found": 1}))

    def test_search_for_a_name_in_a_program_without_the_library(self):
        loader = compile_c(LOADER, SCRATCH.path / "loader", "-O1", "-w", "-ldl")
        empty = compile_c("long run(void) { return 0; }", SCRATCH.path / "empty.so", "-shared", "-fPIC")
        self.both(loader, empty)

    def test_the_command(self):
        text = SCRATCH.big
        packed = SCRATCH.path / "packed.zst"
        with open(packed, "wb") as target:
            for _ in range(3):
                if subprocess.run(["zstd", "-qc", str(text)], stdout=target,
                                  check=False).returncode:
                    self.skipTest("no zstd")
        self.both("zstd", "-dc", packed)


if __name__ == "__main__":
    unittest.main()
