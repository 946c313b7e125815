#!/usr/bin/env python3
"""BLAS calls of programs that run under Hoist, served by a hoistd: the same results as without,
whatever happens to the daemon, and counted."""

import glob
import os
import signal
import subprocess
import unittest

from gemm_case import BLAS, NO_DAEMON, GemmCase
from hoist_tree import BUILD, HOIST, compile_c, environment, main_on_device, run, tried_until

CLIENT = BUILD / "tests/hoistd-client"

# Small integers, so that every sum is exact and all results are the same to the last bit.
PROGRAM = r"""
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 516, K = 520 };  /* above what is looked at, and no multiple of a panel */
enum { ROW = 101, COLUMN = 102, PLAIN = 111, TRANS = 112, CONJ = 113, UPPER = 121, LOWER = 122,
       NONUNIT = 131, UNIT = 132, LEFT = 141, RIGHT = 142 };

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
            const double*, const int*, const double*, const int*, const double*, double*,
            const int*, size_t, size_t);
void ssyrk_(const char*, const char*, const int*, const int*, const float*, const float*,
            const int*, const float*, float*, const int*, size_t, size_t);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*,
            const double*, const double*, const int*, double*, const int*, size_t, size_t, size_t,
            size_t);
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int,
                 double, double*, int);
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                 float*, int);
void cblas_zgemm(int, int, int, int, int, int, const void*, const void*, int, const void*, int,
                 const void*, void*, int);
void cblas_ssymm(int, int, int, int, int, float, const float*, int, const float*, int, float,
                 float*, int);
void cblas_cherk(int, int, int, int, int, float, const void*, int, float, void*, int);
void cblas_strmm(int, int, int, int, int, int, int, float, const float*, int, float*, int);

static uint64_t state = 1;
static int small(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)(state >> 33) % 3;
}
static void show(const char* what, const void* data, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
  printf("%s %016llx\n", what, (unsigned long long)hash);
  fflush(stdout);
}

#define MATRIX(TYPE, NAME, SIZE)                                     \
  TYPE* NAME = malloc((SIZE) * sizeof(TYPE));                        \
  for (size_t i = 0; i < (SIZE) * sizeof(TYPE) / sizeof(REAL); ++i)  \
    ((REAL*)NAME)[i] = small();

static void doubles(const char* which) {
#define REAL double
  const int n = N, k = K, ld = N + 3;
  const double one = 1, two = 2;
  MATRIX(double, a, (size_t)(K + 3) * (K + 3));
  MATRIX(double, b, (size_t)(K + 3) * (K + 3));
  MATRIX(double, c, (size_t)(K + 3) * (K + 3));
  const size_t size = (size_t)(K + 3) * (K + 3) * sizeof *c;
  if (strchr(which, 'f')) {
    dgemm_("n", "T", &n, &n, &k, &two, a, &ld, b, &ld, &one, c, &ld, 1, 1);
    show("dgemm_", c, size);
  }
  if (strchr(which, 'r')) {
    cblas_dgemm(ROW, TRANS, PLAIN, N, N - 1, K, 1, a, N + 1, b, N, 0, c, N + 2);
    show("cblas_dgemm row-major", c, size);
  }
  if (strchr(which, 't')) {
    for (int i = 0; i < N; ++i) a[i + (size_t)i * ld] = 1;
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < N; ++i) if (i != j && i > j - 500) a[i + (size_t)j * ld] = 0;
    dtrsm_("L", "u", "N", "N", &n, &n, &two, a, &ld, c, &ld, 1, 1, 1, 1);
    show("dtrsm_", c, size);
  }
  if (strchr(which, 'x')) {  /* reported by BLAS itself, or nothing to do */
    const double zero = 0;
    const int ld = K + 3;
    dgemm_("N", "N", &n, &n, &k, &zero, a, &ld, b, &ld, &two, c, &ld, 1, 1);
    show("alpha 0", c, size);
    dgemm_("N", "N", &n, &n, &k, &one, c, &ld, b, &ld, &zero, c, &ld, 1, 1);
    puts("overlap survived");
  }
#undef REAL
}

static void singles(const char* which) {
#define REAL float
  const int n = N, k = K, ld = N + 3;
  const float one = 1, two = 2;
  MATRIX(float, a, (size_t)(K + 3) * (K + 3));
  MATRIX(float, b, (size_t)(K + 3) * (K + 3));
  MATRIX(float, c, (size_t)(K + 3) * (K + 3));
  const size_t size = (size_t)(K + 3) * (K + 3) * sizeof *c;
  if (strchr(which, 's')) {
    cblas_sgemm(COLUMN, PLAIN, TRANS, N, N, K, 1, a, N, b, N, 1, c, N);
    show("cblas_sgemm", c, size);
    ssyrk_("L", "N", &n, &k, &two, a, &ld, &one, c, &ld, 1, 1);
    show("ssyrk_", c, size);
    cblas_ssymm(ROW, RIGHT, UPPER, N, N - 2, 1, a, N, b, N, 2, c, N);
    show("cblas_ssymm", c, size);
  }
  if (strchr(which, 'm')) {
    memcpy(c, b, size);
    cblas_strmm(ROW, LEFT, LOWER, TRANS, UNIT, N, N, 2, a, N, c, N + 1);
    show("cblas_strmm", c, size);
  }
#undef REAL
}

static void complexes(const char* which) {
  if (!strchr(which, 'z')) return;
  {
#define REAL double
    const double complex alpha = 1 + 2 * I, beta = 1;
    MATRIX(double complex, a, (size_t)K * K);
    MATRIX(double complex, b, (size_t)K * K);
    MATRIX(double complex, c, (size_t)K * K);
    cblas_zgemm(ROW, CONJ, TRANS, N, N, K, &alpha, a, N, b, K, &beta, c, N);
    show("cblas_zgemm", c, (size_t)K * K * sizeof *c);
#undef REAL
  }
  {
#define REAL float
    MATRIX(float complex, a, (size_t)K * K);
    MATRIX(float complex, c, (size_t)K * K);
    cblas_cherk(ROW, UPPER, CONJ, N, K, 2, a, N, 1, c, N);
    show("cblas_cherk", c, (size_t)K * K * sizeof *c);
#undef REAL
  }
}

int main(int argc, char** argv) {
  const char* which = argv[1];
  const int times = argc > 2 ? atoi(argv[2]) : 1;
  for (int i = 0; i < times; ++i) {
    doubles(which);
    singles(which);
    complexes(which);
  }
  if (strchr(which, 'F')) {  /* the child's calls, after the parent's */
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      doubles("r");
      fflush(stdout);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    doubles("f");
  }
  return 0;
}
"""


class GemmTest(GemmCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = compile_c(PROGRAM, cls.path / "blas_calls", "-O1", f"-l:{BLAS}")
        cls.plain = {}

    def expected(self, which, times="1"):
        if (which, times) not in self.plain:
            self.plain[which, times] = run(self.program, which, times, env=environment()).stdout
        return self.plain[which, times]

    def hoisted(self, which, *options, times="1", **changes):
        """(output, counters of gemm) under `hoist run`."""
        done, gemm = self.hoist(self.program, which, times, options=options, **changes)
        self.assertEqual(done.stderr, b"hoist: gemm: 3 verified, 0 mismatch\n" if options ==
                         ("--verify=1",) else b"")
        return done.stdout, gemm

    def test_every_interface_gives_the_same_result(self):
        self.start_daemon()
        output, gemm = self.hoisted("frtsmz")
        self.assertEqual(output, self.expected("frtsmz"))
        self.assertEqual(gemm["calls"], 9, gemm)
        self.assertEqual(gemm["implementations"]["hoistd"]["calls"], 9)

    def test_what_is_the_originals_business_stays_there(self):
        self.start_daemon()
        output, gemm = self.hoisted("x")
        self.assertEqual(output, self.expected("x"))
        self.assertEqual(gemm["calls"], 0, gemm)
        self.assertEqual(gemm["passed"], {"no product to compute": 1, "matrices overlap": 1})

    def on_two_devices(self):
        output, gemm = self.hoisted("frtsmz", HOIST_GEMM_DEVICES="2")
        return output, {name: one["calls"] for name, one in gemm["implementations"].items()}

    def test_two_devices_share_a_call(self):
        self.start_daemon()
        second = self.start_second_daemon()
        try:
            # The first product waits for two devices, but not for long.
            both = {"hoistd-2": 7, "hoistd": 2}  # syrk and herk are not cut
            output, calls = tried_until(lambda seen: seen[1] == both, self.on_two_devices)
            self.assertEqual(output, self.expected("frtsmz"))
            self.assertEqual(calls, both)
            # The other is gone: one does it, or the program's own BLAS.
            output, gemm = self.hoisted("rF", HOIST_GEMM_DEVICES="2")
            self.assertEqual(output, self.expected("rF"))
            os.kill(second.pid, signal.SIGSTOP)
            output, gemm = self.hoisted("r", HOIST_GEMM_DEVICES="2")
            self.assertEqual(output, self.expected("r"))
        finally:
            second.kill()
            second.wait()
        output, gemm = self.hoisted("r", HOIST_GEMM_DEVICES="2")
        self.assertEqual(output, self.expected("r"))
        # Where there is a second GPU, a hoistd for it may have been started meanwhile.
        has_second = len(glob.glob("/dev/nvidia[0-9]*")) > 1
        possible = (["hoistd"], ["hoistd-2"]) if has_second else (["hoistd"],)
        self.assertIn(list(gemm["implementations"]), possible)
        self.assertEqual(gemm["calls"], 1, gemm)

    def test_a_second_daemon_that_dies_loses_nothing(self):
        self.start_daemon()
        second = self.start_second_daemon()
        program = subprocess.Popen(
            [HOIST, "run", "--", self.program, "f", "6"], stdout=subprocess.PIPE,
            env=environment(HOIST_SOCKET=str(self.socket), HOIST_GPU="require",
                            HOIST_GEMM_DEVICES="2", XDG_CACHE_HOME=str(self.path / "cache")))
        first = program.stdout.readline()
        second.kill()
        second.wait()
        output = first + program.communicate(timeout=120)[0]
        self.assertEqual(program.returncode, 0)
        self.assertEqual(output, self.expected("f", "6"))

    @unittest.skipUnless(CLIENT.exists(), "built without hoistd's tests")
    def test_a_full_daemon_loses_nothing(self):
        self.start_daemon("--clients", "1")
        with subprocess.Popen([CLIENT, "hold"], stdout=subprocess.PIPE,
                              env=environment(HOIST_SOCKET=str(self.socket))) as holder:
            try:
                self.assertEqual(holder.stdout.readline(), b"holding\n")
                output, gemm = self.hoisted("rz")
            finally:
                holder.kill()
        self.assertEqual(output, self.expected("rz"))
        self.assertEqual(gemm["calls"], 0, gemm)

    def test_without_a_daemon_the_original_does_it(self):
        output, gemm = self.hoisted("r", **NO_DAEMON)
        self.assertEqual(output, self.expected("r"))
        self.assertEqual(gemm["calls"], 0, gemm)

    def test_switched_off(self):
        self.start_daemon()
        for options, changes in ((["--ops=-gemm"], {}), ([], {"HOIST_GPU": "off"})):
            output, gemm = self.hoisted("r", *options, **changes)
            self.assertEqual(output, self.expected("r"))
            self.assertEqual(gemm.get("calls", 0), 0, gemm)

    def test_unmeasured_is_unused(self):
        self.start_daemon()
        output, gemm = self.hoisted("r", HOIST_GPU="auto")
        self.assertEqual(output, self.expected("r"))
        self.assertEqual(gemm["passed"], {"not measured (hoist tune --op gemm)": 1})

    def test_verification_compares_with_the_original(self):
        self.start_daemon()
        output, gemm = self.hoisted("rz", "--verify=1")
        self.assertEqual(output, self.expected("rz"))
        self.assertEqual(gemm["passed"], {"verify: same": 3})

    def test_a_child_connects_anew(self):
        self.start_daemon()
        output, gemm = self.hoisted("rF")
        self.assertEqual(output, self.expected("rF"))
        self.assertEqual(gemm["calls"], 3, gemm)

    def test_a_daemon_that_dies_loses_nothing(self):
        self.start_daemon()
        expected = self.expected("f", "6")
        for number in (signal.SIGKILL, signal.SIGSTOP):
            if self.daemon is None:
                self.start_daemon()
            program = subprocess.Popen(
                [HOIST, "run", "--", self.program, "f", "6"], stdout=subprocess.PIPE,
                env=environment(HOIST_SOCKET=str(self.socket), HOIST_GPU="require",
                                XDG_CACHE_HOME=str(self.path / "cache")))
            first = program.stdout.readline()
            os.kill(self.daemon.pid, number)
            output = first + program.communicate(timeout=120)[0]
            self.assertEqual(program.returncode, 0)
            self.assertEqual(output, expected)
            self.daemon.kill()
            self.daemon.wait()
            self.daemon = None
            self.socket.unlink(missing_ok=True)


if __name__ == "__main__":
    main_on_device()
