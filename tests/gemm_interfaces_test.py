#!/usr/bin/env python3
"""Batches, matrices that stay, and the ways in which programs come by their BLAS, under Hoist with a
hoistd."""

import pathlib
import signal

from gemm_case import BLAS, NO_DAEMON, GemmCase
from hoist_tree import compile_c, main_on_device, run

HEADERS = pathlib.Path(__file__).resolve().parent.parent / "include"

# A BLAS with batches: what each routine does is said in a word on standard output.
BATCH_LIBRARY = r"""
#include <stdio.h>
#include <stddef.h>
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int,
                 double, double*, int);
void zgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*,
            const int*, const void*, const int*, const void*, void*, const int*, size_t, size_t);
void cblas_dgemm_batch(int layout, const int* ta, const int* tb, const int* m, const int* n,
                       const int* k, const double* alpha, const double** a, const int* lda,
                       const double** b, const int* ldb, const double* beta, double** c,
                       const int* ldc, int groups, const int* sizes) {
  printf("library: %d groups\n", groups);
  for (int g = 0, at = 0; g < groups; ++g)
    for (int i = 0; i < sizes[g]; ++i, ++at)
      cblas_dgemm(layout, ta[g], tb[g], m[g], n[g], k[g], alpha[g], a[at], lda[g], b[at], ldb[g],
                  beta[g], c[at], ldc[g]);
}
void zgemm_batch_strided_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
                          const double* alpha, const double* a, const int* lda, const int* sa,
                          const double* b, const int* ldb, const int* sb, const double* beta,
                          double* c, const int* ldc, const int* sc, const int* count, size_t x,
                          size_t y) {
  printf("library: %d strided\n", *count);
  for (ptrdiff_t i = 0; i < *count; ++i)
    zgemm_(ta, tb, m, n, k, alpha, a + 2 * i * *sa, lda, b + 2 * i * *sb, ldb, beta,
           c + 2 * i * *sc, ldc, 1, 1);
}
"""

BATCH_PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { ROW = 101, COLUMN = 102, PLAIN = 111, TRANS = 112 };
void cblas_dgemm_batch(int, const int*, const int*, const int*, const int*, const int*,
                       const double*, const double**, const int*, const double**, const int*,
                       const double*, double**, const int*, int, const int*);
void zgemm_batch_strided_(const char*, const char*, const int*, const int*, const int*,
                          const double*, const double*, const int*, const int*, const double*,
                          const int*, const int*, const double*, double*, const int*, const int*,
                          const int*, size_t, size_t);
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                 float*, int);
typedef void strided(int, int, int, int, int, int, float, const float*, int, int, const float*, int,
                     int, float, float*, int, int, int);

static uint64_t state = 1;
static double small(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)((int)(state >> 33) % 3);
}
static double* doubles(size_t size) {
  double* made = malloc(size * sizeof *made);
  for (size_t i = 0; i < size; ++i) made[i] = small();
  return made;
}
static void show(const char* what, const void* data, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
  printf("%s %016llx\n", what, (unsigned long long)hash);
}

static void groups(int layout) {  /* small, large, small, small, large */
  enum { GROUPS = 5, MOST = 20, N = 50 };
  const int ta[] = {PLAIN, TRANS, PLAIN, PLAIN, TRANS}, tb[] = {PLAIN, PLAIN, TRANS, PLAIN, TRANS};
  const int m[] = {3, 48, 5, 0, 40}, n[] = {4, 40, 6, 7, 48}, k[] = {5, 44, 7, 2, 46};
  const int ld[] = {N, N, N, N, N}, sizes[] = {3, MOST, 2, 0, MOST};
  const double alpha[] = {1, 2, 1, 1, 1}, beta[] = {1, 1, 0, 1, 0};
  const double *a[3 * MOST], *b[3 * MOST];
  double* c[3 * MOST];
  const size_t all = 2 * MOST + 5;
  for (size_t i = 0; i < all; ++i) a[i] = doubles(N * N), b[i] = doubles(N * N), c[i] = doubles(N * N);
  for (size_t i = 4; i < 15; ++i) b[i] = b[3];
  cblas_dgemm_batch(layout, ta, tb, m, n, k, alpha, a, ld, b, ld, beta, c, ld, GROUPS, sizes);
  for (size_t i = 0; i < all; i += 7) show("groups", c[i], N * N * sizeof(double));
}

static void strides(void) {
  const int m = 30, n = 33, k = 36, lda = 31, ldb = 37, ldc = 32, count = 30;
  const int sa = 31 * 36, sb = 0, sc = 32 * 33 + 9;
  const double alpha[] = {1, 1}, beta[] = {0, 1};
  double* a = doubles(2 * (size_t)sa * count);
  double* b = doubles(2 * 37 * 33);
  double* c = doubles(2 * (size_t)sc * count);
  for (int once = 0; once < 2; ++once) {
    const int few = once ? 2 : count;
    zgemm_batch_strided_("N", "n", &m, &n, &k, alpha, a, &lda, &sa, b, &ldb, &sb, beta, c, &ldc, &sc,
                         &few, 1, 1);
    show("strides", c, 2 * (size_t)sc * count * sizeof *c);
  }
}

/* A routine that only who interposes it brings along. */
static void probed(const char* what, int layout, int ta, int tb, int n, int count) {
  strided* batch = (strided*)dlsym(RTLD_DEFAULT, "cblas_sgemm_batch_strided");
  const int stride = n * n;
  float* a = malloc((size_t)stride * count * sizeof *a);
  float* c = calloc((size_t)stride * count, sizeof *c);
  for (int i = 0; i < stride * count; ++i) a[i] = (float)small();
  if (batch != NULL) {
    batch(layout, ta, tb, n, n, n, 1, a, n, stride, a, n, stride, 0, c, n, stride, count);
  } else {
    for (int i = 0; i < count; ++i)
      cblas_sgemm(layout, ta, tb, n, n, n, 1, a + i * stride, n, a + i * stride, n, 0,
                  c + i * stride, n);
  }
  show(what, c, (size_t)stride * count * sizeof *c);
}

int main(int argc, char** argv) {
  /* What BLAS reports (the reference BLAS ends the program), or OpenBLAS knows besides. */
  if (strchr(argv[1], 'o')) probed("odd", atoi(argv[2]), atoi(argv[3]), PLAIN, 40, 40);
  if (strchr(argv[1], 'g')) groups(COLUMN), groups(ROW);
  if (strchr(argv[1], 's')) strides();
  if (strchr(argv[1], 'p')) {
    probed("few", ROW, PLAIN, TRANS, 30, 3);
    probed("many", ROW, PLAIN, TRANS, 30, 300);
  }
  return 0;
}
"""

KEEP_PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hoist/gemm.h"
enum { COLUMN = 102, PLAIN = 111, N = 520 };
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int,
                 double, double*, int);
static double *a, *b, *c;
static double product(const double* left) {
  cblas_dgemm(COLUMN, PLAIN, PLAIN, N, N, N, 1, left, N, b, N, 0, c, N);
  return c[0];
}
int main(void) {
  hoist_gemm_keep_function* keep =
      (hoist_gemm_keep_function*)dlsym(RTLD_DEFAULT, "hoist_gemm_keep");
  hoist_gemm_dirty_function* dirty =
      (hoist_gemm_dirty_function*)dlsym(RTLD_DEFAULT, "hoist_gemm_dirty");
  hoist_gemm_release_function* release =
      (hoist_gemm_release_function*)dlsym(RTLD_DEFAULT, "hoist_gemm_release");
  if (keep == NULL) return puts("without") < 0;
  const size_t bytes = sizeof(double) * N * N;
  a = malloc(bytes), b = malloc(bytes), c = malloc(bytes);
  for (int i = 0; i < N * N; ++i) a[i] = b[i] = 1;
  printf("%d %d %d %d\n", keep(a, bytes, 7) == EINVAL, keep(NULL, 1, 0) == EINVAL,
         dirty(a, bytes) == ENOENT, release(a) == ENOENT);
  printf("kept %d", keep(a, bytes, 0));
  printf(", again %d\n", keep(a + 5, 8, 0) == EINVAL);
  printf("%.0f", product(a));
  for (int i = 0; i < N * N; ++i) a[i] = 2;  /* a promise that is broken: the copy's is used */
  printf(" %.0f", product(a));
  printf(" dirty %d", dirty(a + N, 8));
  printf(" %.0f", product(a));
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < N * N; ++i) a[i] = 3;
    printf(" child %.0f", product(a));
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  for (int i = 0; i < N * N; ++i) a[i] = 4;
  printf(" %.0f", product(a));
  printf(" release %d", release(a));
  printf(" %.0f\n", product(a));
  /* A result in what is kept is a change that is noticed. */
  keep(c, bytes, 0);
  double* kept = c;
  printf("%.0f", product(a));
  c = malloc(bytes);
  printf(" %.0f", product(kept));
  c = kept;
  for (int i = 0; i < N * N; ++i) a[i] = 1;
  printf(" %.0f", product(a));
  c = malloc(bytes);
  printf(" %.0f\n", product(kept));
  /* And one by a call that is no product, or whose matrices overlap: the program's BLAS does it. */
  for (int i = 0; i < N * N; ++i) kept[i] = 1;
  dirty(kept, bytes);
  printf("%.0f", product(kept));
  cblas_dgemm(COLUMN, PLAIN, PLAIN, N, N, N, 0, a, N, b, N, 3, kept, N);
  printf(" %.0f", product(kept));
  const double* zeros = calloc(N * N, sizeof *zeros);
  cblas_dgemm(COLUMN, PLAIN, PLAIN, N, N, N, 1, kept, N, zeros, N, 2, kept, N);
  printf(" %.0f\n", product(kept));
  return 0;
}
"""

# Takes a BLAS for there where the name is.
NO_BLAS_PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
int main(void) {
  void (*product)(const char*, const char*, ...) =
      (void (*)(const char*, const char*, ...))dlsym(RTLD_DEFAULT, "dgemm_64_");
  if (product == NULL) return puts("without") < 0;
  const int64_t one = 1;
  double a = 1;
  product("N", "N", &one, &one, &one, &a, &a, &one, &a, &one, &a, &a, &one);
  return puts("done") < 0;
}
"""

# Two libraries with the same names, each known only to the plug-in that was linked with it.
NUMBERED_LIBRARY = r"""
void cblas_dgemm(int layout, int ta, int tb, int m, int n, int k, double alpha, const double* a,
                 int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  c[0] = NUMBER;
}
"""
PLUG_IN = r"""
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int,
                 double, double*, int);
static double a[600 * 600];
double call(int n) {
  static double c[600 * 600];
  for (int i = 0; i < 3; ++i) cblas_dgemm(102, 111, 111, n, n, n, 1, a, n, a, n, 0, c, n);
  double before_last = c[0];  /* no tail call: the return address is ours */
  return before_last;
}
"""
PLUG_IN_HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  double (*call[2])(int);
  for (int i = 0; i < 2; ++i) {
    void* library = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return puts(dlerror()) < 0 ? 1 : 1;
    call[i] = (double (*)(int))dlsym(library, "call");
  }
  for (int round = 0; round < 2; ++round)
    for (int n = 8; n <= 600; n += 592) printf("%g %g\n", call[0](n), call[1](n));
  return 0;
}
"""

# Plain names, integers of 64 bits: as some BLAS are built.
WIDE_LIBRARY = r"""
#include <stdint.h>
#include <stdio.h>
double dasum_(const int64_t* n, const double* x, const int64_t* step) {
  double sum = 0;
  for (int64_t i = 0; i < *n; ++i) sum += x[i * *step] < 0 ? -x[i * *step] : x[i * *step];
  return sum;
}
void dgemm_(const char* ta, const char* tb, const int64_t* m, const int64_t* n, const int64_t* k,
            const double* alpha, const double* a, const int64_t* lda, const double* b,
            const int64_t* ldb, const double* beta, double* c, const int64_t* ldc) {
  printf("dgemm_ of %lld\n", (long long)*m);
}
void cblas_dgemm(int layout, int ta, int tb, int64_t m, int64_t n, int64_t k, double alpha,
                 const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c,
                 int64_t ldc) {
  printf("cblas_dgemm of %lld\n", (long long)m);
}
"""
WIDE_PROGRAM = r"""
#include <stdint.h>
#include <stdlib.h>
void dgemm_(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*,
            const double*, const int64_t*, const double*, const int64_t*, const double*, double*,
            const int64_t*);
void cblas_dgemm(int, int, int, int64_t, int64_t, int64_t, double, const double*, int64_t,
                 const double*, int64_t, double, double*, int64_t);
int main(void) {
  const double one = 1;
  double* a = calloc(1 << 20, sizeof *a);
  double* c = calloc(1 << 20, sizeof *c);
  for (int64_t m = 600; m < INT64_C(1) << 33; m += INT64_C(1) << 32) {
    const int64_t n = 600;
    dgemm_("N", "N", &m, &n, &n, &one, a, &m, a, &n, &one, c, &m);
    cblas_dgemm(102, 111, 111, m, n, n, 1, a, m, a, n, 1, c, m);
  }
  return 0;
}
"""

# The names under which libraries have double products: plain, with 64-bit integers, and as NumPy's and
# SciPy's wheels bring them.
NAMES = (("dgemm_", "cblas_dgemm", 32), ("scipy_dgemm_", "scipy_cblas_dgemm", 32),
         ("dgemm_64_", "cblas_dgemm64_", 64), ("dgemm64_", "cblas_dgemm_64", 64),
         ("scipy_dgemm_64_", "scipy_cblas_dgemm64_", 64))
NAMED_LIBRARY = r"""
#include <stdint.h>
#include <stdio.h>
#define PRODUCT(FORTRAN, CBLAS, INT) \
  void FORTRAN(const char* ta, const char* tb, const INT* m, const INT* n, const INT* k, \
               const double* alpha, const double* a, const INT* lda, const double* b, \
               const INT* ldb, const double* beta, double* c, const INT* ldc) { \
    puts(#FORTRAN); \
  } \
  void CBLAS(int layout, int ta, int tb, INT m, INT n, INT k, double alpha, const double* a, \
             INT lda, const double* b, INT ldb, double beta, double* c, INT ldc) { \
    puts(#CBLAS); \
  }
""" + "".join(f"PRODUCT({fortran}, {c}, int{bits}_t)\n" for fortran, c, bits in NAMES)
# Products of matrices that lie some bytes beside the alignment of a double.
NAMED_PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 520 };
static double *a, *b, *c;
static double* filled(int shift) {
  char* bytes = (char*)malloc(sizeof(double) * N * N + 8) + shift;
  for (int i = 0; i < N * N; ++i) {
    const double value = rand() % 7;
    memcpy(bytes + sizeof value * i, &value, sizeof value);
  }
  return (double*)bytes;
}
static double at(const double* matrix, int row, int column) {
  double value;
  memcpy(&value, (const char*)matrix + sizeof value * (row + N * column), sizeof value);
  return value;
}
/* Some sums of whole numbers, which are exact. */
static void judge(int transposed) {
  int right = 1;
  for (int test = 0; test < 1000; ++test) {
    const int row = rand() % N, column = rand() % N;
    double sum = 0;
    for (int k = 0; k < N; ++k)
      sum += at(a, row, k) * (transposed ? at(b, column, k) : at(b, k, column));
    right &= at(c, row, column) == sum;
  }
  puts(right ? "right" : "wrong");
  memset(c, 1, sizeof(double) * N * N);
}
#define CALL(FORTRAN, CBLAS, INT) \
  { \
    void FORTRAN(const char*, const char*, const INT*, const INT*, const INT*, const double*, \
                 const double*, const INT*, const double*, const INT*, const double*, double*, \
                 const INT*); \
    void CBLAS(int, int, int, INT, INT, INT, double, const double*, INT, const double*, INT, \
               double, double*, INT); \
    const INT n = N; \
    FORTRAN("N", "T", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n); \
    judge(1); \
    CBLAS(102, 111, 111, n, n, n, one, a, n, b, n, zero, c, n); \
    judge(0); \
  }
int main(int argc, char** argv) {
  const double one = 1, zero = 0;
  const int shift = atoi(argv[1]);
  a = filled(shift), b = filled(shift), c = filled(shift);
""" + "".join(f"  CALL({fortran}, {c}, int{bits}_t)\n" for fortran, c, bits in NAMES) + "}\n"


class InterfacesTest(GemmCase):
    def hoist(self, *command, HOIST_GEMM_SMALLEST="1000000", **changes):
        return super().hoist(*command, HOIST_GEMM_SMALLEST=HOIST_GEMM_SMALLEST, **changes)

    def build_batch(self):
        compile_c(BATCH_LIBRARY, self.path / "libbatch.so", "-O1", "-shared", "-fPIC",
                  f"-l:{BLAS}")
        return compile_c(BATCH_PROGRAM, self.path / "batch", "-O1", *self.linked_with("batch"),
                         f"-l:{BLAS}")

    def linked_with(self, library):
        return f"-L{self.path}", f"-l{library}", f"-Wl,-rpath,{self.path}"

    @staticmethod
    def results(output):
        return [line for line in output.splitlines() if not line.startswith(b"library")]

    @staticmethod
    def by_library(output):
        return [line for line in output.splitlines() if line.startswith(b"library")]

    def test_large_groups_of_a_batch_are_taken(self):
        program = self.build_batch()
        self.start_daemon()
        plain = run(program, "g").stdout
        self.assertEqual(len(self.by_library(plain)), 2)
        done, gemm = self.hoist(program, "g")
        self.assertEqual(self.results(done.stdout), self.results(plain))
        # Groups 0, and 2 and 3 together, are the library's own.
        self.assertEqual(self.by_library(done.stdout),
                         [b"library: 1 groups", b"library: 2 groups"] * 2)
        self.assertEqual(gemm["calls"], 4, gemm)

    def test_strided_batches_are_taken(self):
        program = self.build_batch()
        self.start_daemon()
        plain = run(program, "s").stdout
        done, gemm = self.hoist(program, "s")
        self.assertEqual(self.results(done.stdout), self.results(plain))
        self.assertEqual(self.by_library(done.stdout), [b"library: 2 strided"])
        self.assertEqual(gemm["calls"], 1, gemm)

    def test_batches_are_verified_product_by_product(self):
        program = self.build_batch()
        self.start_daemon()
        done, gemm = self.hoist(program, "gs", options=["--verify=1"])
        self.assertEqual(self.results(done.stdout), self.results(run(program, "gs").stdout))
        self.assertEqual(gemm["passed"], {"verify: same": 5})

    def test_without_a_daemon_the_library_does_all(self):
        program = self.build_batch()
        done, gemm = self.hoist(program, "gs", **NO_DAEMON)
        self.assertEqual(done.stdout, run(program, "gs").stdout)
        self.assertEqual(gemm["calls"], 0)

    def test_options_that_blas_does_not_know_are_its_to_report(self):
        program = self.build_batch()
        self.start_daemon()

        def odd(output):
            return [line for line in output.splitlines() if line.startswith(b"odd")]

        for layout, option in (("101", "0"), ("102", "999"), ("7", "111"), ("102", "114")):
            plain = run(program, "o", layout, option)
            done, gemm = self.hoist(program, "o", layout, option, status=plain.returncode)
            self.assertEqual(odd(done.stdout), odd(plain.stdout))
            self.assertEqual(gemm.get("calls", 0), 0, gemm)

    def test_a_blas_without_batches_does_them_one_by_one(self):
        program = self.build_batch()
        expected = run(program, "p").stdout
        done, gemm = self.hoist(program, "p", **NO_DAEMON)
        self.assertEqual(done.stdout, expected)
        self.assertEqual(gemm["calls"], 0)
        self.start_daemon()
        done, gemm = self.hoist(program, "p")
        self.assertEqual(done.stdout, expected)
        self.assertEqual(gemm["calls"], 1)

    def test_kept_matrices_stay_until_they_change(self):
        source = str(HEADERS)
        program = compile_c(KEEP_PROGRAM, self.path / "keep", "-O1", "-I", source, f"-l:{BLAS}")
        self.assertEqual(run(program).stdout, b"without\n")
        self.start_daemon()
        done, gemm = self.hoist(program)
        # 520 ones; the old ones; twos; the child's own; the twos that are kept; and fours.
        self.assertEqual(done.stdout.decode().splitlines(), [
            "1 1 1 1", "kept 0, again 1",
            "520 520 dirty 0 1040 child 1560 1040 release 0 2080",
            f"{4 * 520} {4 * 520 * 520} 520 {520 * 520}", f"{520} {3 * 520} {6 * 520}"])
        self.assertEqual(gemm["calls"], 13, gemm)
        self.assertEqual(gemm["passed"], {"no product to compute": 1, "matrices overlap": 1})

    def test_keeping_where_there_is_no_daemon(self):
        source = str(HEADERS)
        program = compile_c(KEEP_PROGRAM, self.path / "keep", "-O1", "-I", source, f"-l:{BLAS}")
        done, gemm = self.hoist(program, **NO_DAEMON)
        self.assertIn("520 1040 dirty 0 1040 child 1560 2080", done.stdout.decode())
        self.assertEqual(gemm["calls"], 0)

    def test_a_name_without_a_blas_ends_with_a_word(self):
        program = compile_c(NO_BLAS_PROGRAM, self.path / "none", "-O1", "-ldl")
        self.assertEqual(run(program).stdout, b"without\n")
        done, _ = self.hoist(program, status=-signal.SIGABRT)
        self.assertEqual(done.stdout, b"")
        self.assertIn(b"hoist: dgemm_64_() was called, and the program has no BLAS", done.stderr)

    def test_each_caller_gets_the_blas_that_it_was_linked_with(self):
        plug_ins = []
        for number in ("1", "2"):
            compile_c(NUMBERED_LIBRARY, self.path / f"libnumber{number}.so", "-shared", "-fPIC",
                      f"-DNUMBER={number}")
            plug_ins.append(compile_c(PLUG_IN, self.path / f"plug{number}.so", "-O0", "-shared",
                                      "-fPIC", *self.linked_with(f"number{number}")))
        host = compile_c(PLUG_IN_HOST, self.path / "host", "-O1", "-ldl")
        done, _ = self.hoist(host, *plug_ins, **NO_DAEMON)
        self.assertEqual(done.stdout, b"1 2\n" * 4)

    def test_64_bit_integers_by_plain_names_are_not_cut(self):
        compile_c(WIDE_LIBRARY, self.path / "libwide.so", "-shared", "-fPIC", "-O1")
        program = compile_c(WIDE_PROGRAM, self.path / "wide", "-O1", *self.linked_with("wide"))
        self.start_daemon()
        done, gemm = self.hoist(program)
        self.assertEqual(done.stdout.decode().splitlines(),
                         [f"{name} of {m}" for m in (600, (1 << 32) + 600)
                          for name in ("dgemm_", "cblas_dgemm")])
        self.assertEqual(gemm, {**gemm, "passed": {"64-bit integers by a 32-bit name": 4}})

    def test_every_name_of_a_product_is_taken_wherever_matrices_lie(self):
        compile_c(NAMED_LIBRARY, self.path / "libnamed.so", "-shared", "-fPIC", "-O1")
        program = compile_c(NAMED_PROGRAM, self.path / "named", "-O1", *self.linked_with("named"))
        calls = 2 * len(NAMES)
        by_library = [word for names in NAMES for name in names[:2] for word in (name, "wrong")]
        self.assertEqual(run(program, "0").stdout.decode().split(), by_library)
        self.start_daemon()
        for shift in ("0", "1", "4"):
            done, gemm = self.hoist(program, shift)
            self.assertEqual(done.stdout.decode().split(), ["right"] * calls)
            self.assertEqual(gemm["calls"], calls, gemm)

    def test_less_precision_is_an_option(self):
        program = self.build_batch()
        self.start_daemon()
        done, gemm = self.hoist(program, "p", HOIST_GEMM_PRECISION="tf32")
        self.assertEqual(done.stdout, run(program, "p").stdout)  # integers are exact in both
        self.assertEqual(gemm["calls"], 1)

    def test_the_size_from_which_on_calls_are_looked_at(self):
        program = self.build_batch()
        self.start_daemon()
        for smallest, calls in (("1", 2), ("9000000", 0)):
            done, gemm = self.hoist(program, "p", HOIST_GEMM_SMALLEST=smallest)
            self.assertEqual(done.stdout, run(program, "p").stdout)
            self.assertEqual(gemm.get("calls", 0), calls, smallest)


if __name__ == "__main__":
    main_on_device()
