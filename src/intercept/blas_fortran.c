/* Level-3 BLAS by its Fortran names: 32-bit integers (dgemm_), 64-bit ones (dgemm_64_, dgemm64_),
 * and both as SciPy's and NumPy's wheels bring them (scipy_dgemm_, scipy_dgemm_64_).
 *
 * Callers in Fortran pass the lengths of the option strings behind the arguments, callers in C
 * mostly do not: they are handed on as they are found. */
#include <stddef.h>

#include "intercept/blas.h"

typedef const char* text;

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names, which are no expressions. */
#define GEMM(NAME, TYPE, LOAD, INT)                                                               \
  EXPORTED void NAME(text ta, text tb, const INT* m, const INT* n, const INT* k, pointer alpha,   \
                     pointer a, const INT* lda, pointer b, const INT* ldb, pointer beta, void* c, \
                     const INT* ldc, size_t length_a, size_t length_b) {                          \
    BLAS_SITE(NAME, TYPE, HOIST_BLAS_GEMM, INT, false);                                           \
    struct hoist_blas_call call;                                                                  \
    const void* frame = NULL;                                                                     \
    if (is_large_product(*m, *n, *k) && read_transpose(ta, &call.trans_a) &&                      \
        read_transpose(tb, &call.trans_b)) {                                                      \
      call.left = call.upper = call.unit = false;                                                 \
      set_sizes(&call, *m, *n, *k);                                                               \
      set_matrices(&call, a, *lda, b, *ldb, c, *ldc);                                             \
      LOAD(alpha, call.alpha);                                                                    \
      LOAD(beta, call.beta);                                                                      \
      if (offer_blas(&site, &call, CALLER)) return;                                               \
      frame = enter_blas();                                                                       \
    }                                                                                             \
    ((__typeof__(&NAME))need_blas(&site.original, #NAME, CALLER))(                                \
        ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a, length_b);                \
    leave_blas(frame);                                                                            \
  }

#define SYMM(NAME, TYPE, LOAD, INT, ROUTINE)                                                     \
  EXPORTED void NAME(text side, text uplo, const INT* m, const INT* n, pointer alpha, pointer a, \
                     const INT* lda, pointer b, const INT* ldb, pointer beta, void* c,           \
                     const INT* ldc, size_t length_side, size_t length_uplo) {                   \
    BLAS_SITE(NAME, TYPE, ROUTINE, INT, false);                                                  \
    struct hoist_blas_call call;                                                                 \
    const void* frame = NULL;                                                                    \
    if (read_option(side, "LR", &call.left) && read_option(uplo, "UL", &call.upper) &&           \
        is_large_product(*m, *n, call.left ? *m : *n)) {                                         \
      call.trans_a = call.trans_b = 'N';                                                         \
      call.unit = false;                                                                         \
      set_sizes(&call, *m, *n, 0);                                                               \
      set_matrices(&call, a, *lda, b, *ldb, c, *ldc);                                            \
      LOAD(alpha, call.alpha);                                                                   \
      LOAD(beta, call.beta);                                                                     \
      if (offer_blas(&site, &call, CALLER)) return;                                              \
      frame = enter_blas();                                                                      \
    }                                                                                            \
    ((__typeof__(&NAME))need_blas(&site.original, #NAME, CALLER))(                               \
        side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, length_side, length_uplo);        \
    leave_blas(frame);                                                                           \
  }

#define SYRK(NAME, TYPE, LOAD, INT, ROUTINE)                                                      \
  EXPORTED void NAME(text uplo, text trans, const INT* n, const INT* k, pointer alpha, pointer a, \
                     const INT* lda, pointer beta, void* c, const INT* ldc, size_t length_uplo,   \
                     size_t length_trans) {                                                       \
    BLAS_SITE(NAME, TYPE, ROUTINE, INT, false);                                                   \
    struct hoist_blas_call call;                                                                  \
    const void* frame = NULL;                                                                     \
    if (is_large_product(*n, *n, *k) && read_option(uplo, "UL", &call.upper) &&                   \
        read_transpose(trans, &call.trans_a)) {                                                   \
      call.trans_b = 'N';                                                                         \
      call.left = call.unit = false;                                                              \
      set_sizes(&call, *n, *n, *k);                                                               \
      set_matrices(&call, a, *lda, NULL, 0, c, *ldc);                                             \
      LOAD(alpha, call.alpha);                                                                    \
      LOAD(beta, call.beta);                                                                      \
      if (offer_blas(&site, &call, CALLER)) return;                                               \
      frame = enter_blas();                                                                       \
    }                                                                                             \
    ((__typeof__(&NAME))need_blas(&site.original, #NAME, CALLER))(                                \
        uplo, trans, n, k, alpha, a, lda, beta, c, ldc, length_uplo, length_trans);               \
    leave_blas(frame);                                                                            \
  }

#define TRMM(NAME, TYPE, LOAD, INT, ROUTINE)                                                      \
  EXPORTED void NAME(text side, text uplo, text trans, text diagonal, const INT* m, const INT* n, \
                     pointer alpha, pointer a, const INT* lda, void* b, const INT* ldb,           \
                     size_t length_side, size_t length_uplo, size_t length_trans,                 \
                     size_t length_diagonal) {                                                    \
    BLAS_SITE(NAME, TYPE, ROUTINE, INT, false);                                                   \
    struct hoist_blas_call call;                                                                  \
    const void* frame = NULL;                                                                     \
    bool is_plain;                                                                                \
    if (read_option(side, "LR", &call.left) && read_option(uplo, "UL", &call.upper) &&            \
        read_transpose(trans, &call.trans_a) && read_option(diagonal, "NU", &is_plain) &&         \
        is_large_product(*m, *n, call.left ? *m : *n)) {                                          \
      call.trans_b = 'N';                                                                         \
      call.unit = !is_plain;                                                                      \
      set_sizes(&call, *m, *n, 0);                                                                \
      set_matrices(&call, a, *lda, NULL, 0, b, *ldb);                                             \
      LOAD(alpha, call.alpha);                                                                    \
      call.beta[0] = call.beta[1] = 0;                                                            \
      if (offer_blas(&site, &call, CALLER)) return;                                               \
      frame = enter_blas();                                                                       \
    }                                                                                             \
    ((__typeof__(&NAME))need_blas(&site.original, #NAME, CALLER))(                                \
        side, uplo, trans, diagonal, m, n, alpha, a, lda, b, ldb, length_side, length_uplo,       \
        length_trans, length_diagonal);                                                           \
    leave_blas(frame);                                                                            \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

/* The real scalars of herk are not of the matrix's type. */
#define ALL_OF_TYPE(T, TYPE, LOAD, PREFIX, SUFFIX, INT)           \
  GEMM(PREFIX##T##gemm##SUFFIX, TYPE, LOAD, INT)                  \
  SYMM(PREFIX##T##symm##SUFFIX, TYPE, LOAD, INT, HOIST_BLAS_SYMM) \
  SYRK(PREFIX##T##syrk##SUFFIX, TYPE, LOAD, INT, HOIST_BLAS_SYRK) \
  TRMM(PREFIX##T##trmm##SUFFIX, TYPE, LOAD, INT, HOIST_BLAS_TRMM) \
  TRMM(PREFIX##T##trsm##SUFFIX, TYPE, LOAD, INT, HOIST_BLAS_TRSM)

#define ALL(PREFIX, SUFFIX, INT)                                 \
  ALL_OF_TYPE(s, 's', load_s, PREFIX, SUFFIX, INT)               \
  ALL_OF_TYPE(d, 'd', load_d, PREFIX, SUFFIX, INT)               \
  ALL_OF_TYPE(c, 'c', load_c, PREFIX, SUFFIX, INT)               \
  ALL_OF_TYPE(z, 'z', load_z, PREFIX, SUFFIX, INT)               \
  SYMM(PREFIX##chemm##SUFFIX, 'c', load_c, INT, HOIST_BLAS_HEMM) \
  SYMM(PREFIX##zhemm##SUFFIX, 'z', load_z, INT, HOIST_BLAS_HEMM) \
  SYRK(PREFIX##cherk##SUFFIX, 'c', load_s, INT, HOIST_BLAS_HERK) \
  SYRK(PREFIX##zherk##SUFFIX, 'z', load_d, INT, HOIST_BLAS_HERK)

ALL(, _, int32_t)
ALL(, _64_, int64_t)
ALL(, 64_, int64_t)
ALL(scipy_, _, int32_t)
ALL(scipy_, _64_, int64_t)
