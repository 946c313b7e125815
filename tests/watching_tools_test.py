#!/usr/bin/env python3
"""Programs with a sanitizer in them, and programs under valgrind: under `hoist run` they start, find
what they find without, and their children are served."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from hoist_tree import (PRELOAD, Scratch, build_id_offset, compile_c, copy_with_build_id,
                        environment, run)
from run_test import KNOWN, SORT

# Sorts enough for an engine, makes the fault that it is told to make, or starts a command.
SOURCE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
enum { kCount = 70000 };
static int numbers[kCount];
static int shared;

static int by_value(const void* a, const void* b) {
  return (*(const int*)a > *(const int*)b) - (*(const int*)a < *(const int*)b);
}
static void sort_numbers(size_t count) {
  for (int i = 0; i < kCount; ++i) numbers[i] = i / 8 * 8 + 7 - i % 8;
  qsort(numbers, count, sizeof *numbers, by_value);
}
static void* add(void* none) {
  ++shared;
  return none;
}
static int make_fault(const char* name) {
  volatile int* heap = malloc(40);
  char text[64] = "0123456789abcdef";
  memset((void*)heap, 0, 40);
  if (strcmp(name, "overflow") == 0) heap[10] = 1;
  if (strcmp(name, "sort") == 0) {
    int* few = malloc(30000 * sizeof *few);
    memcpy(few, numbers, 30000 * sizeof *few);
    qsort(few, 30001, sizeof *few, by_value);
  }
  if (strcmp(name, "overlap") == 0) memcpy(text + 1, text, strlen(text));
  if (strcmp(name, "prctl") == 0) {
    char* small = malloc(4);
    prctl(PR_SET_NAME, "long-name", 0, 0, 0);
    prctl(PR_GET_NAME, small, 0, 0, 0); /* writes 16 bytes */
  }
  if (strcmp(name, "race") == 0) {
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  }
  if (strcmp(name, "unset") == 0) {
    volatile int* fresh = malloc(40);
    if (fresh[3] > 1) puts("large");
  }
  if (strcmp(name, "signed") == 0) {
    volatile int most = 2147483647;
    printf("%d\n", most + 1);
  }
  if (strcmp(name, "leak") == 0) heap = NULL;
  free((void*)heap);
  return 0;
}
int main(int argc, char** argv) {
  sort_numbers(kCount);
  sort_numbers(kCount); /* now an engine would be loaded */
  printf("%d %d\n", numbers[0], numbers[kCount - 1]);
  fflush(stdout);
  if (argc == 3 && strcmp(argv[1], "system") == 0) return system(argv[2]) == 0 ? 0 : 1;
  if (argc > 3 && strcmp(argv[1], "spawn") == 0) {
    pid_t child;
    int status = -1;
    if (posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ) != 0) return 1;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  if (argc > 3 && strcmp(argv[1], "exec") == 0) return execv(argv[2], argv + 2);
  return argc > 1 ? make_fault(argv[1]) : 0;
}
"""
# Starts its arguments, and is served by nobody.
STARTER = r"""
#include <unistd.h>
int main(int argc, char** argv) { return execv(argv[1], argv + 1); }
"""
# Loads the library that it is given.
LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return puts(dlerror()), 1;
  return ((int (*)(void))dlsym(library, "answer"))();
}
"""
LIBRARY = "int answer(void) { volatile int few[3] = {1, 2, 3}; return few[1]; }\n"

# Those that differ in how they start.
STARTING = ("address", "thread", "leak", "clang-address-shared", "clang-memory")

# (name, compiler, flags, reason of --stats or None where it is a program like others, faults)
ADDRESS = "AddressSanitizer watches its calls"
LINKED_IN = "a run-time system in it watches its calls"
OF_ADDRESS = ("overflow", "sort", "overlap", "prctl", "leak")
KINDS = (
    ("address", "cc", "-fsanitize=address", ADDRESS, OF_ADDRESS),
    ("address-undefined", "cc", "-fsanitize=address,undefined", ADDRESS, ("overflow", "signed")),
    ("address-linked-in", "cc", "-fsanitize=address -static-libasan", LINKED_IN, ("overflow",)),
    ("thread", "cc", "-fsanitize=thread", "ThreadSanitizer watches its calls", ("race",)),
    ("leak", "cc", "-fsanitize=leak", "LeakSanitizer watches its calls", ("leak",)),
    ("undefined", "cc", "-fsanitize=undefined", None, ("signed",)),
    ("clang-address", "clang", "-fsanitize=address", ADDRESS, OF_ADDRESS),
    ("clang-address-shared", "clang", "-fsanitize=address -shared-libasan", ADDRESS, OF_ADDRESS),
    ("clang-thread", "clang", "-fsanitize=thread", "ThreadSanitizer watches its calls", ("race",)),
    ("clang-memory", "clang", "-fsanitize=memory", "MemorySanitizer watches its calls", ("unset",)),
    ("clang-leak", "clang", "-fsanitize=leak", "LeakSanitizer watches its calls", ("leak",)),
    ("clang-undefined", "clang", "-fsanitize=undefined", LINKED_IN, ("signed",)),
)


def setUpModule():
    global SCRATCH, RUN, KNOWN_SORT
    SCRATCH = Scratch()
    RUN = [SCRATCH.tree("tree") / "bin/hoist", "run"]
    KNOWN_SORT = SCRATCH.path / "known/sort"
    KNOWN_SORT.parent.mkdir()
    copy_with_build_id(SORT, KNOWN_SORT, KNOWN)


def tearDownModule():
    SCRATCH.close()


def clean_environment(**changes):
    """Without the options by which this preset's own sanitizer takes our library."""
    env = environment(**changes)
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"):
        env.pop(name, None)
    if shutil.which("clang"):
        shared = run("clang", "-print-file-name=libclang_rt.asan-x86_64.so").stdout.decode().strip()
        env["LD_LIBRARY_PATH"] = os.path.dirname(shared) or "/nonexistent"
    return env


def compiled(name, compiler, flags, source=SOURCE):
    """The program, or None where it cannot be built or does not run here by itself."""
    target = SCRATCH.path / name
    if target.exists():
        return target
    if shutil.which(compiler) is None:
        return None
    done = subprocess.run([compiler, "-x", "c", "-", "-w", "-g", "-o", str(target), "-pthread",
                           *flags.split()], input=source.encode(), capture_output=True, check=False)
    return target if done.returncode == 0 else None


def findings(done):
    """What a run printed and how it ended, without what differs between two runs anyway."""
    text = done.stdout + done.stderr
    text = re.sub(rb"0x[0-9a-f]+|==\d+==|pid=\d+|tid=\d+|thread T\d+|\+0x[0-9a-f]+", b"", text)
    lines = [line.strip() for line in text.splitlines()
             if re.search(rb"ERROR|WARNING|SUMMARY|runtime error|^ *#\d|byte\(s\)|^-?\d", line)]
    return done.returncode, lines


class WatchingToolsTest(unittest.TestCase):
    def setUp(self):
        self.env = clean_environment()

    def kinds(self, names=None):
        tested = 0
        for name, compiler, flags, reason, faults in KINDS:
            if names is not None and name not in names:
                continue
            program = compiled(name, compiler, flags)
            if program is None or run(program, env=self.env).returncode != 0:
                continue
            tested += 1
            with self.subTest(kind=name):
                yield program, reason, faults
        if tested == 0:
            self.skipTest("no compiler with a sanitizer")

    def test_programs_start_however_they_are_started(self):
        starter = compile_c(STARTER, SCRATCH.path / "starter", "-static")
        for program, _, _ in self.kinds(STARTING):
            plain = run(program, env=self.env)
            ways = [[program], ["sh", "-c", f"{program}"], ["sh", "-c", f"exec {program}"],
                    ["env", "A=b", program], [program, "spawn", program, "none"],
                    [program, "exec", program, "none"], [program, "system", program]]
            ways += [[starter, program]] if starter else []
            for way in ways:
                with self.subTest(way=way):
                    expected = run(*way, env=self.env)
                    done = run(*RUN, "--", *way, env=self.env)
                    self.assertEqual((done.returncode, done.stdout, done.stderr),
                                     (0, expected.stdout, b""))
                    self.assertIn(plain.stdout, done.stdout)

    def test_preloaded_by_hand(self):
        for program, _, _ in self.kinds():
            done = run(program, env=self.env | {"LD_PRELOAD": str(PRELOAD)})
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_our_other_libraries(self):
        for program, _, _ in self.kinds(("address", "clang-memory")):
            for options, changes in ((["--ops=+memcpy,+deflate,+zstd"], {}),
                                     ([], {"HOIST_GPU": "inprocess"})):
                done = run(*RUN, *options, "--", program, env=self.env | changes)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_faults_are_found_and_told_as_without(self):
        for program, _, faults in self.kinds():
            for fault in faults:
                plain = findings(run(program, fault, env=self.env))
                if plain[1] == findings(run(program, env=self.env))[1]:
                    continue  # this version does not find it
                for options in ((), ("--ops=+memcpy",)) if fault == "overlap" else ((),):
                    with self.subTest(fault=fault, options=options):
                        done = run(*RUN, *options, "--", program, fault, env=self.env)
                        # Calls that go through ours have a frame more, or lack one that jumps.
                        self.assertEqual(findings(done)[0], plain[0], done.stderr)
                        self.assertEqual([line for line in findings(done)[1] if b"#" not in line],
                                         [line for line in plain[1] if b"#" not in line])

    def test_statistics_say_why(self):
        for program, reason, _ in self.kinds():
            done = run(*RUN, "--stats", "--", program, env=self.env)
            self.assertEqual(done.returncode, 0, done.stderr)
            why = re.search(r"ran on the original: (.*)", done.stderr.decode()).group(1)
            self.assertEqual(why, reason or "no engine replaces it")
            if reason:
                self.assertIn(f"qsort: 0 calls, 0.0 MB, 0.000 s, passed ({reason}) x 1",
                              done.stderr.decode())

    def test_their_children_are_served(self):
        for program, _, _ in self.kinds(STARTING):
            for way in (["system", f"{KNOWN_SORT} {SCRATCH.big}; :"],
                        ["spawn", KNOWN_SORT, SCRATCH.big], ["exec", KNOWN_SORT, SCRATCH.big]):
                with self.subTest(way=way):
                    done = run(*RUN, "--", program, *way, env=self.env)
                    self.assertIn(b"\nTAKEN sort:coreutils", done.stdout)

    def test_a_known_program_with_a_sanitizer_is_its_own(self):
        for program, reason, _ in self.kinds():
            if reason != ADDRESS:
                continue
            if build_id_offset(pathlib.Path(program).read_bytes()) is None:
                continue  # this compiler writes none
            copy = SCRATCH.path / "with-known-build-id"
            copy_with_build_id(program, copy, KNOWN)
            done = run(*RUN, "--stats", "--", copy, env=self.env)
            self.assertNotIn(b"TAKEN", done.stdout)
            self.assertIn(reason.encode(), done.stderr)

    def test_libraries_with_a_sanitizer(self):
        """In a program without, the run-time library refuses with and without us, or works."""
        loader = compile_c(LOADER, SCRATCH.path / "loader", "-ldl")
        for compiler, flags in (("cc", "-fsanitize=address"), ("cc", "-fsanitize=undefined"),
                                ("clang", "-fsanitize=address -shared-libasan")):
            library = compiled(f"lib{compiler}{flags.split('=')[1][:4]}.so", compiler,
                               f"-shared -fPIC {flags}", LIBRARY)
            if library is None or loader is None:
                continue
            runtime = run(compiler, "-print-file-name=libasan.so").stdout.decode().strip()
            for changes in ({}, {"LD_PRELOAD": runtime}):
                if changes and (compiler != "cc" or not os.path.isabs(runtime)):
                    continue
                with self.subTest(compiler=compiler, flags=flags, changes=changes):
                    env = self.env | changes
                    plain = run(loader, library, env=env)
                    done = run(*RUN, "--", loader, library, env=env)
                    self.assertEqual(re.sub(rb"==\d+==", b"", done.stderr),
                                     re.sub(rb"==\d+==", b"", plain.stderr))
                    self.assertEqual((done.returncode, done.stdout),
                                     (plain.returncode, plain.stdout))


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
class ValgrindTest(unittest.TestCase):
    def test_tools_see_the_programs_own_calls(self):
        program = compile_c(SOURCE, SCRATCH.path / "plain", "-w", "-g", "-pthread")
        if program is None:
            self.skipTest("no compiler")
        folder = SCRATCH.path / "valgrind"
        folder.mkdir()
        env = clean_environment()
        expected = run(program, env=env).stdout
        for tool, fault in (("memcheck", "overflow"), ("massif", "none"), ("callgrind", "none")):
            command = ["valgrind", f"--tool={tool}", "--error-exitcode=9", program, fault]
            with self.subTest(tool=tool):
                done = run(*RUN, "--stats", "--", *command, env=env, cwd=folder)
                self.assertEqual(done.stdout, expected)
                self.assertEqual(done.returncode, 9 if fault == "overflow" else 0)
                self.assertIn(b"ran on the original: valgrind watches its calls", done.stderr)
                self.assertIn(b"passed (valgrind watches its calls) x 1", done.stderr)

    def test_a_known_program_is_not_taken_away(self):
        done = run(*RUN, "--", "valgrind", "-q", KNOWN_SORT, SCRATCH.small, env=clean_environment())
        self.assertEqual((done.returncode, done.stdout), (0, b"a\nb\n"))


if __name__ == "__main__":
    unittest.main()
