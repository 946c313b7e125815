#!/usr/bin/env python3
"""memcpy() and memmove() in programs that run under Hoist with --ops=+memcpy: the same bytes."""

import json
import pathlib
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, Scratch, compile_c, environment, run

ENGINE = BUILD / "lib/libhoist_memcpy.so"
LARGE = 66  # MiB, a little more than what is taken from on

PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kLarge = (LARGE << 20) + 77, kPage = 4096 };
static char *from, *to;
static volatile sig_atomic_t faults, left_over;
static sigjmp_buf out;
static size_t volatile size = kLarge;

static void tell(const char* data, size_t bytes) {
  uint64_t hash = 1;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    __builtin_memcpy(&word, data + i, 8);
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 29;
  }
  printf("%016lx %d\n", (unsigned long)hash, data[bytes - 1]);
}
static void copy_in_handler(int number) {
  (void)number;
  memcpy(to, from, size);
}
static void unlock_page(int number, siginfo_t* info, void* unused) {
  (void)number, (void)unused;
  if (gettid() != getpid()) _exit(9);
  ++faults;
  mprotect((void*)((unsigned long)info->si_addr & ~4095ul), kPage, PROT_READ | PROT_WRITE);
}
static void leave(int number) {
  (void)number;
  if (gettid() != getpid()) _exit(9);
  siglongjmp(out, 1);
}
static void* copy_in_thread(void* target) {
  memcpy(target, from, size);
  return NULL;
}
void* old_memcpy(void*, const void*, size_t);
__asm__(".symver old_memcpy, memcpy@GLIBC_2.2.5");

int main(int argc, char** argv) {
  const char* mode = argv[1];
  from = mmap(NULL, 2 * kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  to = mmap(NULL, kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint64_t state = 1;
  for (size_t i = 0; i + 8 <= kLarge; i += 8) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    __builtin_memcpy(from + i, &state, 8);
  }
  if (!strcmp(mode, "copies")) {
    errno = EXDEV;
    if (memcpy(to, from, size) != to || memmove(to, from, size) != to || errno != EXDEV) return 9;
    tell(to, size);
  } else if (!strcmp(mode, "small")) {
    for (size_t i = 0; i < 3000; ++i) memcpy(to + 7 * i, from + 5 * i, i);
    memmove(to + 10000, to + 9000, size / 100);
    tell(to, size);
  } else if (!strcmp(mode, "overlap")) {
    memmove(from + 12345, from, size);
    tell(from, size);
    memmove(from, from + 4321, size);
    tell(from, size);
  } else if (!strcmp(mode, "old")) {
    if (argc > 2) size = atol(argv[2]);
    old_memcpy(from + 100, from, size);
    tell(from, size);
    old_memcpy(from, from + 100, size);
    tell(from, size);
  } else if (!strcmp(mode, "handler")) {
    signal(SIGUSR1, copy_in_handler);
    raise(SIGUSR1);
    tell(to, size);
  } else if (!strcmp(mode, "vfork")) {
    const pid_t child = vfork();
    if (child == 0) {
      memcpy(to, from, size);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    tell(to, size);
  } else if (!strcmp(mode, "fork")) {
    memcpy(to, from, size);
    fflush(stdout);
    const pid_t child = fork();
    memset(to, 0, size);
    memcpy(to, from, size);
    if (child != 0) waitpid(child, NULL, 0);
    tell(to, size);
  } else if (!strcmp(mode, "threads")) {
    pthread_t threads[3];
    char* targets[3];
    for (int i = 0; i < 3; ++i) {
      targets[i] = malloc(size);
      pthread_create(&threads[i], NULL, copy_in_thread, targets[i]);
    }
    for (int i = 0; i < 3; ++i) {
      pthread_join(threads[i], NULL);
      tell(targets[i], size);
    }
  } else if (!strcmp(mode, "watched")) {
    struct sigaction action = {.sa_sigaction = unlock_page, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    mprotect(to + 9 * kPage, kPage, PROT_READ);
    mprotect(to + 5000 * kPage, 2 * kPage, PROT_NONE);
    mprotect(from + 7000 * kPage, kPage, PROT_NONE);
    memcpy(to, from, size);
    tell(to, size);
    printf("%d\n", faults);
  } else if (!strcmp(mode, "leaves")) {
    signal(SIGSEGV, leave);
    mprotect(to + 5000 * kPage, kPage, PROT_NONE);
    if (sigsetjmp(out, 1) == 0) memcpy(to, from, size);
    else puts("left");
    mprotect(to + 5000 * kPage, kPage, PROT_READ | PROT_WRITE);
    memcpy(to, from, size);
    tell(to, size);
  } else if (!strcmp(mode, "dies")) {
    mprotect(to + 5000 * kPage, kPage, PROT_NONE);
    memcpy(to, from, size);
  }
  return 0;
}
"""


def setUpModule():
    global SCRATCH, PATH
    SCRATCH = Scratch()
    PATH = compile_c(PROGRAM, SCRATCH.path / "copier", "-O1", "-w", "-fno-builtin", "-pthread",
                     f"-DLARGE={LARGE}")
    if PATH is None:
        SCRATCH.close()
        raise unittest.SkipTest("no C compiler")


def tearDownModule():
    SCRATCH.close()


class MemcpyCase(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = pathlib.Path(home.name)

    def both(self, *command, options=("--ops=+memcpy",), **variables):
        """Runs it plain and under Hoist: same streams and status. The counts about memcpy."""
        variables.setdefault("HOIST_THREADS", None)
        env = environment(HOME=str(self.home), XDG_CACHE_HOME=str(self.home), **variables)
        stats = self.home / "stats.json"
        plain = run(*command, env=env)
        done = run(HOIST, "run", f"--stats={stats}", *options, "--", *command, env=env)
        self.assertEqual(done.stdout, plain.stdout)
        # The shell's way to tell of a signal is the launcher's, too.
        status = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        self.assertIn(done.returncode, (plain.returncode, status))
        return json.loads(stats.read_text())["operations"].get(
            "memcpy", {"calls": 0, "bytes": 0, "implementations": {}, "passed": {}}), done


@unittest.skipUnless(ENGINE.exists(), "the engine is not built in this preset")
class Asked(MemcpyCase):
    def test_large_copies(self):
        counts, _ = self.both(PATH, "copies")
        left = counts["passed"].pop("no threads free", 0)  # on a busy machine
        self.assertEqual((counts["calls"] + left, counts["passed"]), (2, {}))
        self.assertGreaterEqual(counts["bytes"], counts["calls"] * (LARGE << 20))

    def test_one_thread(self):
        counts, _ = self.both(PATH, "copies", HOIST_THREADS="1")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"no threads free": 2}))

    def test_what_is_left_alone(self):
        for mode in ("small", "handler", "vfork"):
            with self.subTest(mode=mode):
                counts, _ = self.both(PATH, mode)
                self.assertEqual((counts["calls"], counts["passed"]), (0, {}))

    def test_overlaps(self):
        counts, _ = self.both(PATH, "overlap")
        self.assertEqual((counts["calls"], counts["passed"]),
                         (0, {"source and target overlap": 2}))

    def test_programs_of_the_old_symbol_version(self):
        for size in ("0", "5000", str(LARGE << 20)):
            with self.subTest(size=size):
                self.both(PATH, "old", size)

    def test_circumstances(self):
        for mode in ("fork", "threads", "watched", "leaves", "dies"):
            with self.subTest(mode=mode):
                self.both(PATH, mode)

    def test_verify(self):
        counts, done = self.both(PATH, "copies", options=["--ops=+memcpy", "--verify=1"])
        left = counts["passed"].pop("no threads free", 0)
        self.assertEqual(counts["passed"].get("verify: same", 0), 2 - left)
        if left < 2:
            self.assertIn(f"memcpy: {2 - left} verified, 0 mismatch".encode(), done.stderr)

    def test_note_switches_it_off(self):
        (self.home / "hoist").mkdir()
        (self.home / "hoist/switched-off").write_text("memcpy differed\n")
        counts, _ = self.both(PATH, "copies")
        self.assertEqual((counts["calls"], counts["passed"]), (0, {"switched off by --verify": 2}))


class NotAsked(MemcpyCase):
    def test_the_library_is_not_there(self):
        for options in ((), ("--ops=-memcpy",), ("--ops=sort",)):
            with self.subTest(options=options):
                done = run(HOIST, "run", *options, "--", "sh", "-c", "cat /proc/self/maps")
                self.assertIn(b"libhoist_preload.so", done.stdout)
                self.assertNotIn(b"libhoist_preload_memcpy.so", done.stdout)
        done = run(HOIST, "run", "--ops=+memcpy", "--", "sh", "-c", "cat /proc/self/maps")
        self.assertIn(b"libhoist_preload_memcpy.so", done.stdout)

    def test_nested_runs_preload_it_once(self):
        done = run(HOIST, "run", "--ops=+memcpy", "--", HOIST, "run", "--ops=+memcpy", "--", "sh",
                   "-c", "echo $LD_PRELOAD")
        self.assertEqual(done.stdout.count(b"libhoist_preload_memcpy.so"), 1)

    def test_inner_run_switches_it_off(self):
        counts, _ = self.both(HOIST, "run", "--ops=-memcpy", "--", PATH, "copies")
        self.assertEqual(counts["calls"], 0)


if __name__ == "__main__":
    unittest.main()
