#include "intercept/blas_original.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "intercept/caller_scope.h"
#include "ops/gemm/cblas.h"

blas_function* find_blas(void** slot, const char* name, const void* caller) {
  return (blas_function*)original_for_caller(slot, name, "libblas.so.3", caller);
}

blas_function* need_blas(void** slot, const char* name, const void* caller) {
  blas_function* function = find_blas(slot, name, caller);
  if (function != NULL) return function;
  dprintf(STDERR_FILENO,
          "hoist: %s() was called, and the program has no BLAS with it: load one, or start it "
          "without `hoist run`\n",
          name);
  abort();
}

/* The sum of one element, asked for in a way that only who reads 32 bits of the count finds it: for
 * the others the count is negative, and the sum of nothing is 0. */
bool reads_wide_integers(blas_function* function) {
  /* One of them is in every BLAS; some have unprefixed names beside those of their own. */
  static const char* const kSums[] = {"dasum_", "dasum_64_", "dasum64_", "scipy_dasum_",
                                      "scipy_dasum_64_"};
  const int64_t count = -(INT64_C(1) << 32) + 1;
  const int64_t step = 1;
  const double one = 1;
  Dl_info holder;
  if (dladdr((void*)function, &holder) == 0) return false;
  void* library = dlopen(holder.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* sum = NULL;
  for (size_t i = 0; library != NULL && sum == NULL && i < sizeof kSums / sizeof kSums[0]; ++i) {
    sum = dlsym(library, kSums[i]);
  }
  const bool is_wide =
      sum != NULL &&
      ((double (*)(const int64_t*, const double*, const int64_t*))sum)(&count, &one, &step) == 0;
  if (library != NULL) dlclose(library);
  (void)dlerror(); /* the next one is to be the program's */
  return is_wide;
}

/* An integer in either width, by reference as Fortran takes it: little-endian, so that a pointer to
 * 64 bits is one to 32 as well. Lengths of the option strings follow the arguments. */
static void run_fortran(const struct hoist_blas_original* base,
                        const struct hoist_blas_call* call) {
  const struct blas_original* original = (const struct blas_original*)base;
  const float alpha_single[2] = {(float)call->alpha[0], (float)call->alpha[1]};
  const float beta_single[2] = {(float)call->beta[0], (float)call->beta[1]};
  const bool is_single = call->type == 's' || call->type == 'c';
  const void* alpha = is_single ? (const void*)alpha_single : call->alpha;
  const void* beta = is_single ? (const void*)beta_single : call->beta;
  const char side = call->left ? 'L' : 'R';
  const char uplo = call->upper ? 'U' : 'L';
  const char diagonal = call->unit ? 'U' : 'N';
  typedef const char* text;
  typedef const void* pointer;
  typedef const int64_t* integer;
  switch (call->routine) {
    case HOIST_BLAS_GEMM:
      ((void (*)(text, text, integer, integer, integer, pointer, pointer, integer, pointer, integer,
                 pointer, void*, integer, size_t, size_t))original->function)(
          &call->trans_a, &call->trans_b, &call->m, &call->n, &call->k, alpha, call->a, &call->lda,
          call->b, &call->ldb, beta, call->c, &call->ldc, 1, 1);
      return;
    case HOIST_BLAS_SYMM:
    case HOIST_BLAS_HEMM:
      ((void (*)(text, text, integer, integer, pointer, pointer, integer, pointer, integer, pointer,
                 void*, integer, size_t, size_t))original->function)(
          &side, &uplo, &call->m, &call->n, alpha, call->a, &call->lda, call->b, &call->ldb, beta,
          call->c, &call->ldc, 1, 1);
      return;
    case HOIST_BLAS_SYRK:
    case HOIST_BLAS_HERK:
      ((void (*)(text, text, integer, integer, pointer, pointer, integer, pointer, void*, integer,
                 size_t, size_t))original->function)(&uplo, &call->trans_a, &call->n, &call->k,
                                                     alpha, call->a, &call->lda, beta, call->c,
                                                     &call->ldc, 1, 1);
      return;
    case HOIST_BLAS_TRMM:
    case HOIST_BLAS_TRSM:
      ((void (*)(text, text, text, text, integer, integer, pointer, pointer, integer, void*,
                 integer, size_t, size_t, size_t, size_t))original->function)(
          &side, &uplo, &call->trans_a, &diagonal, &call->m, &call->n, alpha, call->a, &call->lda,
          call->c, &call->ldc, 1, 1, 1, 1);
      return;
  }
}

/* 0 for none of them, which BLAS reports. */
static int cblas_transpose(char trans) {
  return trans == 'N'   ? CBLAS_NO_TRANSPOSE
         : trans == 'T' ? CBLAS_TRANSPOSE
         : trans == 'C' ? CBLAS_CONJUGATE_TRANSPOSE
         : trans == 'R' ? CBLAS_CONJUGATE
                        : 0;
}

/* Scalars go by value where they are real, by reference where they are complex. Integers are passed
 * as 64 bits, of which a callee with 32 reads the lower half. */
#define RUN_CBLAS(NAME, SCALAR, REAL, ALPHA, BETA, REAL_ALPHA, REAL_BETA)                          \
  static void NAME(const struct hoist_blas_original* base, const struct hoist_blas_call* call) {   \
    const struct blas_original* original = (const struct blas_original*)base;                      \
    const float alpha_single[2] = {(float)call->alpha[0], (float)call->alpha[1]};                  \
    const float beta_single[2] = {(float)call->beta[0], (float)call->beta[1]};                     \
    (void)alpha_single;                                                                            \
    (void)beta_single;                                                                             \
    typedef const void* pointer;                                                                   \
    const int side = call->left ? CBLAS_LEFT : CBLAS_RIGHT;                                        \
    const int uplo = call->upper ? CBLAS_UPPER : CBLAS_LOWER;                                      \
    const int diagonal = call->unit ? CBLAS_UNIT : CBLAS_NON_UNIT;                                 \
    const int trans_a = cblas_transpose(call->trans_a);                                            \
    switch (call->routine) {                                                                       \
      case HOIST_BLAS_GEMM:                                                                        \
        ((void (*)(int, int, int, int64_t, int64_t, int64_t, SCALAR, pointer, int64_t, pointer,    \
                   int64_t, SCALAR, void*, int64_t))original->function)(                           \
            CBLAS_COLUMN_MAJOR, trans_a, cblas_transpose(call->trans_b), call->m, call->n,         \
            call->k, ALPHA, call->a, call->lda, call->b, call->ldb, BETA, call->c, call->ldc);     \
        return;                                                                                    \
      case HOIST_BLAS_SYMM:                                                                        \
      case HOIST_BLAS_HEMM:                                                                        \
        ((void (*)(int, int, int, int64_t, int64_t, SCALAR, pointer, int64_t, pointer, int64_t,    \
                   SCALAR, void*, int64_t))original->function)(                                    \
            CBLAS_COLUMN_MAJOR, side, uplo, call->m, call->n, ALPHA, call->a, call->lda, call->b,  \
            call->ldb, BETA, call->c, call->ldc);                                                  \
        return;                                                                                    \
      case HOIST_BLAS_SYRK:                                                                        \
        ((void (*)(int, int, int, int64_t, int64_t, SCALAR, pointer, int64_t, SCALAR, void*,       \
                   int64_t))original->function)(CBLAS_COLUMN_MAJOR, uplo, trans_a, call->n,        \
                                                call->k, ALPHA, call->a, call->lda, BETA, call->c, \
                                                call->ldc);                                        \
        return;                                                                                    \
      case HOIST_BLAS_HERK:                                                                        \
        ((void (*)(int, int, int, int64_t, int64_t, REAL, pointer, int64_t, REAL, void*,           \
                   int64_t))original->function)(CBLAS_COLUMN_MAJOR, uplo, trans_a, call->n,        \
                                                call->k, REAL_ALPHA, call->a, call->lda,           \
                                                REAL_BETA, call->c, call->ldc);                    \
        return;                                                                                    \
      case HOIST_BLAS_TRMM:                                                                        \
      case HOIST_BLAS_TRSM:                                                                        \
        ((void (*)(int, int, int, int, int, int64_t, int64_t, SCALAR, pointer, int64_t, void*,     \
                   int64_t))original->function)(CBLAS_COLUMN_MAJOR, side, uplo, trans_a, diagonal, \
                                                call->m, call->n, ALPHA, call->a, call->lda,       \
                                                call->c, call->ldc);                               \
        return;                                                                                    \
    }                                                                                              \
  }
RUN_CBLAS(run_single, float, float, alpha_single[0], beta_single[0], alpha_single[0],
          beta_single[0])
RUN_CBLAS(run_double, double, double, call->alpha[0], call->beta[0], call->alpha[0], call->beta[0])
RUN_CBLAS(run_complex, const void*, float, alpha_single, beta_single, alpha_single[0],
          beta_single[0])
RUN_CBLAS(run_double_complex, const void*, double, call->alpha, call->beta, call->alpha[0],
          call->beta[0])

struct blas_original make_blas_original(blas_function* function, bool is_cblas, char type) {
  struct blas_original original = {.function = function};
  if (!is_cblas) {
    original.base.run = run_fortran;
  } else {
    original.base.run = type == 's'   ? run_single
                        : type == 'd' ? run_double
                        : type == 'c' ? run_complex
                                      : run_double_complex;
  }
  return original;
}
