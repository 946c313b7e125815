#!/usr/bin/env python3
"""sort and qsort() through hoistd: the same bytes, whatever happens to it."""

import itertools
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from hoist_tree import BUILD, DEVICE, HOIST, ON_CPU, environment, main_on_device, run, tried_until

HOISTD = BUILD / "bin/hoistd"
ENGINE = BUILD / "libexec/hoist/hoist-sort"
QSORT = BUILD / "lib/libhoist_qsort.so"
# What a sort through hoistd counts as.
IMPLEMENTATION = "hoistd" if ON_CPU else "cuda"

PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#define COMPARE(NAME, TYPE) \
  static int NAME(const void* a, const void* b) { \
    const TYPE x = *(const TYPE*)a, y = *(const TYPE*)b; \
    return x < y ? -1 : x > y; \
  }
COMPARE(by_int, int)
COMPARE(by_unsigned_long, unsigned long)
COMPARE(by_float, float)
COMPARE(by_double, double)
static int down(const void* a, const void* b) { return by_int(b, a); }
static uint64_t state;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}
static void show(const char* name, const void* data, size_t size) {
  uint64_t sum = 14695981039346656037u;
  for (size_t i = 0; i < size; i++) sum = (sum ^ ((const unsigned char*)data)[i]) * 1099511628211u;
  printf("%s %llx\n", name, (unsigned long long)sum);
  fflush(stdout);
}
int main(int argc, char** argv) {
  enum { COUNT = 1000003 };
  uint64_t* words = malloc(COUNT * sizeof *words);
  for (int round = 0; round < atoi(argv[1]); round++) {
    state = 88172645463325252u + (uint64_t)round;
    for (size_t i = 0; i < COUNT; i++) words[i] = next();
    qsort(words, COUNT, 4, by_int);
    show("int", words, COUNT * 4);
    qsort(words, COUNT, 4, down);
    show("int, descending", words, COUNT * 4);
    for (size_t i = 0; i < COUNT; i++) words[i] = next();
    qsort(words, COUNT, 8, by_unsigned_long);
    show("unsigned long", words, COUNT * 8);
    float* floats = (float*)words;
    for (size_t i = 0; i < COUNT; i++) floats[i] = (float)(int64_t)next();
    floats[7] = INFINITY;
    qsort(floats, COUNT, 4, by_float);
    show("float", words, COUNT * 4);
    double* doubles = (double*)words;
    for (size_t i = 0; i < COUNT; i++) doubles[i] = (double)(int64_t)next();
    doubles[COUNT / 2] = -0.0;
    doubles[COUNT / 3] = 0.0;
    qsort(doubles, COUNT, 8, by_double);
    show("double, two zeros", words, COUNT * 8);
  }
}
"""


# qsort() has nobody to copy for a GPU on one CPU.
WITH_QSORT = unittest.skipUnless(
    QSORT.exists() and len(os.sched_getaffinity(0)) > 1 and shutil.which("gcc"),
    "the engine is not in this build, or there is one CPU, or no compiler")


class ThroughTheDaemon(unittest.TestCase):
    numbers_of_sockets = itertools.count()

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="hoist-gpu-sort-"))
        source = random.Random(20261122)
        words = ["%x" % source.getrandbits(28) for _ in range(5000)]
        cls.text = cls.folder / "text"
        with open(cls.text, "w", encoding="ascii") as file:
            for _ in range(300_000):
                file.write(" ".join(source.choices(words, k=source.randrange(1, 5))) + "\n")
        cls.numbers = cls.folder / "numbers"
        with open(cls.numbers, "w", encoding="ascii") as file:
            for _ in range(300_000):
                file.write("%d.%d\n" % (source.randrange(-10**6, 10**6), source.randrange(100)))
        if shutil.which("gcc"):
            (cls.folder / "q.c").write_text(PROGRAM)
            cls.program = cls.folder / "q"
            made = run("gcc", "-O2", cls.folder / "q.c", "-o", cls.program)
            assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.daemon = None
        self.take_socket()

    def tearDown(self):
        self.stop()
        shutil.rmtree(self.folder / "cache", ignore_errors=True)

    def take_socket(self):
        """Where there is a GPU, an engine that finds no hoistd starts one, which has that socket."""
        self.socket = self.folder / f"socket{next(self.numbers_of_sockets)}"

    def start(self, *options):
        self.take_socket()
        self.daemon = subprocess.Popen(
            [HOISTD, "--device", DEVICE, "--socket", self.socket, *options], env=environment(),
            stderr=subprocess.DEVNULL)
        for _ in range(1200):
            if run(HOISTD, "--status", "--socket", self.socket).returncode == 0:
                return
            time.sleep(0.05)
        self.fail("hoistd does not answer")

    def stop(self):
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.wait()
        self.daemon = None
        self.socket.unlink(missing_ok=True)

    def through_daemon(self, **changes):
        variables = {"HOIST_GPU": "require", "HOIST_SOCKET": str(self.socket),
                     "XDG_CACHE_HOME": str(self.folder / "cache")}
        return environment(**{**variables, **changes})

    def sorted(self, *arguments, **changes):
        done = run(ENGINE, *arguments, env=self.through_daemon(**changes))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def status(self):
        for _ in range(10):  # which a busy machine does not answer in two seconds
            done = run(HOISTD, "--status", "--json", "--socket", self.socket)
            if done.returncode == 0:
                return json.loads(done.stdout)
        raise AssertionError(done.stderr)

    def served(self):
        """Sorts that the daemon has done."""
        return self.status()["operations"].get("radix_sort", {}).get("calls", 0)

    def stop_while_connected(self, process):
        """A program that sorts is connected while it does."""
        for _ in range(500):
            os.kill(process.pid, signal.SIGSTOP)
            if self.status()["clients"]:
                return
            os.kill(process.pid, signal.SIGCONT)
            time.sleep(0.01)
        self.fail("the program does not connect")

    def test_sort_gives_the_same_bytes(self):
        self.start()
        for arguments in (["-s"], [], ["-r"], ["-u"], ["-k2"], ["-k2,2", "-s"], ["-n"], ["-nr"],
                          ["-S", "8M"], ["-f", "-u"]):
            with self.subTest(arguments):
                data = self.numbers if "-n" in arguments else self.text
                before = self.served()
                self.assertEqual(self.sorted(*arguments, data),
                                 self.sorted(*arguments, data, HOIST_GPU="off"))
                self.assertGreater(self.served(), before)

    def test_one_thread_may_use_it(self):
        self.start()
        self.assertEqual(self.sorted(self.text, HOIST_THREADS="1"),
                         self.sorted(self.text, HOIST_GPU="off"))
        self.assertGreater(self.served(), 0)

    def test_unmeasured_is_unused(self):
        self.start()
        self.sorted(self.text, HOIST_GPU="auto")
        self.assertEqual(self.served(), 0)

    def measure(self, rows=("sort/{} cpus=1 0 cpu-1 1000 cuda",), **machine):
        """A profile by which sort is for a GPU, of this machine but for `machine`."""
        cache = self.folder / "cache/hoist"
        shutil.rmtree(cache, ignore_errors=True)
        done = run(HOIST, "tune", "--quick", "--seconds", "1", "--op", "hash/md5sum",
                   env=self.through_daemon(HOIST_GPU="off"))
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = json.loads((cache / "profile.json").read_text())
        profile["machine"].update(machine)
        (cache / "profile.json").write_text(json.dumps(profile))
        with open(cache / "decisions", "a") as decisions:
            for variant in ("C", "locale", "numeric"):
                decisions.writelines(row.format(variant) + "\n" for row in rows)

    def logged(self):
        """Without a word of HOIST_GPU; what the engine logs is in self.log."""
        self.log = self.folder / "log"
        self.log.unlink(missing_ok=True)
        return {"HOIST_GPU": "auto", "HOIST_LOG": "debug", "HOIST_LOG_FILE": str(self.log)}

    @unittest.skipUnless(ON_CPU, "this daemon has a GPU")
    def test_a_daemon_without_a_gpu_is_unused(self):
        self.start()
        self.measure()
        expected = self.sorted(self.text, HOIST_GPU="off")
        self.assertEqual(self.sorted(self.text, **self.logged()), expected)
        self.assertRegex(self.log.read_text(), "sort: (no GPU|GPU opened)")  # the process's own
        self.assertEqual(self.served(), 0)

    def test_a_hoistds_gpu_may_be_ahead_where_one_to_be_opened_is_not(self):
        self.measure(["sort/{} cpus=1 0 cpu-1", "sort/{}+hoistd cpus=1 0 cpu-1 1000 hoistd"])
        expected = self.sorted(self.text, HOIST_GPU="off")
        stats = self.folder / "stats.json"

        def counted():
            stats.unlink(missing_ok=True)
            done = run(HOIST, "run", f"--stats={stats}", "--", ENGINE, self.text,
                       env=self.through_daemon(**self.logged()))
            self.assertTrue(done.stdout == expected)
            counters = json.loads(stats.read_text())["operations"]["sort"]
            return list(counters["implementations"]), self.log.read_text()

        implementations, log = counted()  # there is no hoistd
        self.assertEqual(implementations, ["cpu-1"])
        self.assertNotIn("GPU", log)
        self.start()
        implementations, log = tried_until(lambda counts: "GPU" in counts[1], counted)
        if ON_CPU:
            self.assertIn("sort: no GPU: hoistd lends a CPU", log)
            self.assertEqual(self.served(), 0)
        else:
            self.assertEqual(implementations, ["hoistd"])
            self.assertGreater(self.served(), 0)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            self.daemon.send_signal(number)  # its socket stays
            implementations, log = counted()
            self.assertEqual(implementations, ["cpu-1"])
            self.assertNotIn("GPU", log)

    def test_another_gpu_than_the_measured_one_is_unused(self):
        self.start()
        expected = self.sorted(self.text, HOIST_GPU="off")
        for changes in ({"gpu": "Another GPU"}, {"driver": "another"}):
            self.measure(**changes)
            self.assertEqual(self.sorted(self.text, **self.logged()), expected)
            self.assertFalse(self.log.exists() and "GPU" in self.log.read_text())
        self.assertEqual(self.served(), 0)

    @unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "a sanitizer reserves address space")
    @unittest.skipUnless(ON_CPU, "limits the engine, which does not depend on the daemon's device; "
                         "where it opens the GPU itself, the driver reserves address space")
    def test_little_memory(self):
        self.start()
        expected = self.sorted(self.text, HOIST_GPU="off")
        statuses = set()
        for mebibytes in (16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512, 768, 4096):
            limit = mebibytes << 20
            done = subprocess.run(
                [ENGINE, self.text], env=self.through_daemon(), stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            with self.subTest(mebibytes, stderr=done.stderr):
                self.assertIn(done.returncode, (0, 2, 127))  # 127: not even its libraries fit
                if done.returncode == 0:
                    self.assertTrue(done.stdout == expected)
                else:
                    self.assertEqual(done.stdout, b"")
            statuses.add(done.returncode)
        self.assertIn(0, statuses)
        self.assertGreater(self.served(), 0)

    def test_a_sort_loses_nothing_with_its_daemon(self):
        expected = self.sorted(self.text, HOIST_GPU="off")
        self.assertEqual(self.sorted(self.text), expected)  # there is none
        ways = [(signal.SIGKILL, delay) for delay in (0, 0.05, 0.1, 0.2)] + [(signal.SIGSTOP, 0.1)]
        for number, delay in ways:
            self.start()
            process = subprocess.Popen([ENGINE, self.text], stdout=subprocess.PIPE,
                                       env=self.through_daemon())
            time.sleep(delay)
            os.kill(self.daemon.pid, number)
            output, _ = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(output, expected)
            self.stop()

    @WITH_QSORT
    def test_a_daemon_with_all_the_clients_that_it_takes(self):
        expected = self.sorted(self.text, HOIST_GPU="off")
        self.start("--clients", "1")
        first = subprocess.Popen([HOIST, "run", "--", self.program, "1000"],
                                 stdout=subprocess.PIPE, env=self.through_daemon())
        try:
            self.stop_while_connected(first)
            before = self.status()["refused"]
            served = self.served()
            self.assertEqual(self.sorted(self.text), expected)
            self.assertGreater(self.status()["refused"], before)
            self.assertLessEqual(self.served(), served + 1)  # one was on its way
        finally:
            first.kill()
            first.communicate()

    def qsorted(self, rounds, **changes):
        stats = self.folder / "stats"
        done = run(HOIST, "run", f"--stats={stats}", "--", self.program, str(rounds),
                   env=self.through_daemon(**changes))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, json.loads(stats.read_text())["operations"].get("qsort", {})

    @WITH_QSORT
    def test_qsort_gives_the_same_bytes(self):
        expected = run(self.program, "2").stdout
        self.assertEqual(self.qsorted(2)[0], expected)  # there is no daemon
        self.start()
        output, counters = self.qsorted(2)
        self.assertEqual(output, expected)
        # The array with two zeros is not for radix sort.
        self.assertEqual(counters["implementations"][IMPLEMENTATION]["calls"], 8, counters)
        self.assertEqual(self.served(), 8)
        for changes in ({"HOIST_GPU": "off"}, {"HOIST_GPU": "auto"}):
            output, counters = self.qsorted(1, **changes)
            self.assertTrue(expected.startswith(output))
            self.assertNotIn(IMPLEMENTATION, counters["implementations"])
        self.assertEqual(self.served(), 8)

    @WITH_QSORT
    def test_qsort_loses_nothing_with_its_daemon(self):
        expected = run(self.program, "3").stdout
        for number in (signal.SIGKILL, signal.SIGSTOP):
            self.start()
            process = subprocess.Popen([HOIST, "run", "--", self.program, "3"],
                                       stdout=subprocess.PIPE, env=self.through_daemon())
            first = process.stdout.readline()
            time.sleep(0.05)
            os.kill(self.daemon.pid, number)
            output = first + process.communicate(timeout=120)[0]
            self.assertEqual(process.returncode, 0)
            self.assertEqual(output, expected)
            self.stop()


if __name__ == "__main__":
    main_on_device()
