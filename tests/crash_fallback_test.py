#!/usr/bin/env python3
"""Engines that fault: the original follows where nothing was changed yet."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import hostile_case
from hoist_tree import HOIST, compile_c, engine_is_built, environment, run
from hostile_case import LINES, scratch, tearDownModule

SANITIZED = bool(os.environ.get("HOIST_SANITIZE"))

# FAULT=FUNCTION:CALL:SIGNAL makes that call in an engine fault, as our own code might.
FAULTS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static char function[32];
static int wanted, number, calls;
__attribute__((constructor)) static void look(void) {
  char path[4096] = "";
  const char* fault = getenv("FAULT");
  if (fault == NULL || readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return;
  if (strstr(path, "/libexec/hoist/hoist-") == NULL || strstr(path, "command-line") != NULL) return;
  sscanf(fault, "%31[^:]:%d:%d", function, &wanted, &number);
}
static void visit(const char* name) {
  if (strcmp(name, function) != 0 || __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != wanted) return;
  if (number == SIGSEGV) *(volatile int*)16 = 1;
  if (number == SIGABRT) abort();
  if (number == SIGBUS) { /* past the end of a file, as in a segment that was made sparse */
    FILE* file = tmpfile();
    volatile char* byte = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    *byte = 1;
  }
  raise(number);
}
#define STAND_IN(type, name, parameters, arguments) \
  type name parameters { \
    static type(*real) parameters; \
    if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    visit(#name); \
    return real arguments; \
  }
STAND_IN(ssize_t, pread64, (int fd, void* data, size_t size, off_t at), (fd, data, size, at))
ssize_t read(int fd, void* data, size_t size) {
  static ssize_t (*real)(int, void*, size_t);
  if (real == NULL) real = (ssize_t(*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  visit(fd == 0 ? "stdin" : "read");
  return real(fd, data, size);
}
off_t lseek64(int fd, off_t offset, int whence) {
  static off_t (*real)(int, off_t, int);
  if (real == NULL) real = (off_t(*)(int, off_t, int))dlsym(RTLD_NEXT, "lseek64");
  const off_t at = real(fd, offset, whence);
  if (fd == 1 && whence == SEEK_CUR && offset > 0) visit("moved"); /* sort's part of its output */
  return at;
}
STAND_IN(ssize_t, write, (int fd, const void* data, size_t size), (fd, data, size))
STAND_IN(int, fchmod, (int fd, mode_t mode), (fd, mode))
STAND_IN(int, fallocate64, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
"""


def setUpModule():
    global FAULTING
    hostile_case.setUpModule()
    FAULTING = compile_c(FAULTS, scratch().path / "faults.so", "-shared", "-fPIC", "-ldl")


class Crashes(unittest.TestCase):
    """An engine that faults before it has changed anything is followed by the original."""

    def setUp(self):
        if SANITIZED:
            self.skipTest("sanitizers report faults")
        if FAULTING is None:
            self.skipTest("no compiler")
        self.folder = scratch().folder()
        self.addCleanup(shutil.rmtree, self.folder)

    def crash(self, fault, *command, **options):
        env = environment(FAULT=fault, LD_PRELOAD=str(FAULTING), HOIST_THREADS="2",
                          **options.pop("more", {}))
        return run(*command, env=env, cwd=self.folder, **options)

    def test_original_follows(self):
        expected = run("sort", "big", cwd=self.folder).stdout
        for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGXFSZ,
                       signal.SIGFPE):
            for call in (1, 2):  # on either thread
                with self.subTest(signal=number, call=call):
                    done = self.crash(f"pread64:{call}:{int(number)}", HOIST, "sort", "big")
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertTrue(done.stdout == expected)

    def test_standard_input_is_not_lost(self):
        expected = run("sort", "big", cwd=self.folder).stdout
        with open(self.folder / "big", "rb") as file:
            done = self.crash("pread64:2:11", HOIST, "sort", stdin=file)
            self.assertTrue((done.returncode, done.stdout) == (0, expected))
        # A pipe, as long as nothing has been read from it.
        done = self.crash("fallocate64:1:7", HOIST, "sort", input=LINES)
        self.assertTrue((done.returncode, done.stdout) == (0, expected))
        done = self.crash("stdin:2:11", HOIST, "sort", input=LINES)
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGSEGV, b""))

    def test_a_crash_is_not_hidden_once_something_was_written(self):
        done = self.crash("write:2:11", HOIST, "sort", "big")
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertTrue(LINES and len(done.stdout) < len(LINES))

    def test_a_crash_is_not_hidden_once_the_output_was_moved(self):
        with open(self.folder / "sorted", "wb") as file:
            env = environment(FAULT="moved:1:11", LD_PRELOAD=str(FAULTING), HOIST_THREADS="2")
            done = subprocess.run([HOIST, "sort", "big"], env=env, cwd=self.folder, stdout=file,
                                  timeout=60, check=False)
        self.assertEqual((done.returncode, (self.folder / "sorted").read_bytes()),
                         (-signal.SIGSEGV, b""))

    def test_inherited_descriptors_reach_the_original(self):
        for i in range(40):
            os.link(self.folder / "big", self.folder / f"copy{i}")
        names = [f"copy{i}" for i in range(40)]
        with open(self.folder / "other", "rb") as file:
            names.append(f"/dev/fd/{file.fileno()}")
            inherited = {"pass_fds": (file.fileno(),)}
            expected = run("sha256sum", *names, cwd=self.folder, **inherited).stdout
            for call in range(1, 13):  # on either thread
                with self.subTest(call=call):
                    done = self.crash(f"read:{call}:11", HOIST, "sha256sum", *names, **inherited)
                    self.assertEqual((done.returncode, done.stdout), (0, expected))

    def test_a_signal_from_somebody_else_ends_the_program(self):
        process = subprocess.Popen([HOIST, "sort"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=environment())
        while "hoist-sort" not in os.readlink(f"/proc/{process.pid}/exe"):
            time.sleep(0.01)
        time.sleep(0.2)  # until it has its handlers
        process.send_signal(signal.SIGSEGV)
        process.stdin.close()
        self.assertEqual(process.wait(), -signal.SIGSEGV)
        process.stdout.close()

    def test_files(self):
        (self.folder / "big").unlink()
        done = self.crash("fchmod:1:7", HOIST, "gunzip", "big.gz")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual((self.folder / "big").read_bytes(), LINES)
        self.assertFalse((self.folder / "big.gz").exists())

    def test_it_is_told(self):
        log = self.folder / "log"
        done = self.crash("read:1:11", HOIST, "run", "--explain", "--", HOIST, "sha256sum", "big",
                          more={"HOIST_LOG_FILE": str(log)})
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, rb"ran on the original: engine crashed: SIGSEGV")
        self.assertRegex(log.read_text(), r"error: engine crashed: SIGSEGV: left to /.*sha256sum")


if __name__ == "__main__":
    if not all(engine_is_built(name) for name in ("sort", "hash", "gunzip")):
        print("skipped: the engines are not built", file=sys.stderr)
        sys.exit(77)
    unittest.main()
