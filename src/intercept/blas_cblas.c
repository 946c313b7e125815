/* Level-3 BLAS by its C names: 32-bit integers (cblas_dgemm), 64-bit ones (cblas_dgemm64_,
 * cblas_dgemm_64), and both as SciPy's and NumPy's wheels bring them.
 *
 * Integers are declared with 64 bits throughout, so that what the caller put into a register
 * reaches the original unchanged, and cut to the name's width where they are looked at.
 *
 * A row-major matrix is the transpose of a column-major one, so a row-major call is the
 * column-major call for the transposed result: C' = op(B)' op(A)'. */
#include "intercept/blas.h"

#include <stddef.h>

#include "ops/gemm/cblas.h"

static void load_real(double from, double to[2]) {
  to[0] = from;
  to[1] = 0;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names, which are no expressions. */
#define GEMM(NAME, TYPE, SCALAR, LOAD, INT)                                                       \
  EXPORTED void NAME(int layout, int ta, int tb, int64_t m, int64_t n, int64_t k, SCALAR alpha,   \
                     pointer a, int64_t lda, pointer b, int64_t ldb, SCALAR beta, void* c,        \
                     int64_t ldc) {                                                               \
    BLAS_SITE(NAME, TYPE, HOIST_BLAS_GEMM, INT, true);                                            \
    struct hoist_blas_call call;                                                                  \
    const void* frame = NULL;                                                                     \
    bool is_column_major;                                                                         \
    if (is_large_product((INT)m, (INT)n, (INT)k) && read_layout(layout, &is_column_major) &&      \
        read_transpose_number(is_column_major ? ta : tb, &call.trans_a) &&                        \
        read_transpose_number(is_column_major ? tb : ta, &call.trans_b)) {                        \
      call.left = call.upper = call.unit = false;                                                 \
      if (is_column_major) {                                                                      \
        set_sizes(&call, (INT)m, (INT)n, (INT)k);                                                 \
        set_matrices(&call, a, (INT)lda, b, (INT)ldb, c, (INT)ldc);                               \
      } else {                                                                                    \
        set_sizes(&call, (INT)n, (INT)m, (INT)k);                                                 \
        set_matrices(&call, b, (INT)ldb, a, (INT)lda, c, (INT)ldc);                               \
      }                                                                                           \
      LOAD(alpha, call.alpha);                                                                    \
      LOAD(beta, call.beta);                                                                      \
      if (offer_blas(&site, &call, CALLER)) return;                                               \
      frame = enter_blas();                                                                       \
    }                                                                                             \
    ((__typeof__(&NAME))need_blas(&site.original, #NAME, CALLER))(layout, ta, tb, m, n, k, alpha, \
                                                                  a, lda, b, ldb, beta, c, ldc);  \
    leave_blas(frame);                                                                            \
  }

#define SYMM(NAME, TYPE, SCALAR, LOAD, INT, ROUTINE)                                               \
  EXPORTED void NAME(int layout, int side, int uplo, int64_t m, int64_t n, SCALAR alpha,           \
                     pointer a, int64_t lda, pointer b, int64_t ldb, SCALAR beta, void* c,         \
                     int64_t ldc) {                                                                \
    BLAS_SITE(NAME, TYPE, ROUTINE, INT, true);                                                     \
    struct hoist_blas_call call;                                                                   \
    const void* frame = NULL;                                                                      \
    bool is_column_major;                                                                          \
    if (is_large_product((INT)m, (INT)n, side == CBLAS_LEFT ? (INT)m : (INT)n) &&                  \
        read_layout(layout, &is_column_major) &&                                                   \
        read_number(side, CBLAS_LEFT, CBLAS_RIGHT, &call.left) &&                                  \
        read_number(uplo, CBLAS_UPPER, CBLAS_LOWER, &call.upper)) {                                \
      call.trans_a = call.trans_b = 'N';                                                           \
      call.unit = false;                                                                           \
      call.left = call.left == is_column_major;                                                    \
      call.upper = call.upper == is_column_major;                                                  \
      set_sizes(&call, is_column_major ? (INT)m : (INT)n, is_column_major ? (INT)n : (INT)m, 0);   \
      set_matrices(&call, a, (INT)lda, b, (INT)ldb, c, (INT)ldc);                                  \
      LOAD(alpha, call.alpha);                                                                     \
      LOAD(beta, call.beta);                                                                       \
      if (offer_blas(&site, &call, CALLER)) return;                                                \
      frame = enter_blas();                                                                        \
    }                                                                                              \
    ((__typeof__(&NAME))need_blas(&site.original, #NAME, CALLER))(layout, side, uplo, m, n, alpha, \
                                                                  a, lda, b, ldb, beta, c, ldc);   \
    leave_blas(frame);                                                                             \
  }

/* Transposing swaps no transpose for TRANSPOSED: 'T', or 'C' where the routine is Hermitian. */
#define SYRK(NAME, TYPE, SCALAR, LOAD, INT, ROUTINE, TRANSPOSED)                                \
  EXPORTED void NAME(int layout, int uplo, int trans, int64_t n, int64_t k, SCALAR alpha,       \
                     pointer a, int64_t lda, SCALAR beta, void* c, int64_t ldc) {               \
    BLAS_SITE(NAME, TYPE, ROUTINE, INT, true);                                                  \
    struct hoist_blas_call call;                                                                \
    const void* frame = NULL;                                                                   \
    bool is_column_major;                                                                       \
    if (is_large_product((INT)n, (INT)n, (INT)k) && read_layout(layout, &is_column_major) &&    \
        read_transpose_number(trans, &call.trans_a) &&                                          \
        read_number(uplo, CBLAS_UPPER, CBLAS_LOWER, &call.upper) &&                             \
        (call.trans_a == 'N' || call.trans_a == (TRANSPOSED) || is_column_major)) {             \
      call.trans_b = 'N';                                                                       \
      call.left = call.unit = false;                                                            \
      call.upper = call.upper == is_column_major;                                               \
      if (!is_column_major) call.trans_a = call.trans_a == 'N' ? (TRANSPOSED) : 'N';            \
      set_sizes(&call, (INT)n, (INT)n, (INT)k);                                                 \
      set_matrices(&call, a, (INT)lda, NULL, 0, c, (INT)ldc);                                   \
      LOAD(alpha, call.alpha);                                                                  \
      LOAD(beta, call.beta);                                                                    \
      if (offer_blas(&site, &call, CALLER)) return;                                             \
      frame = enter_blas();                                                                     \
    }                                                                                           \
    ((__typeof__(&NAME))need_blas(&site.original, #NAME, CALLER))(layout, uplo, trans, n, k,    \
                                                                  alpha, a, lda, beta, c, ldc); \
    leave_blas(frame);                                                                          \
  }

#define TRMM(NAME, TYPE, SCALAR, LOAD, INT, ROUTINE)                                             \
  EXPORTED void NAME(int layout, int side, int uplo, int trans, int diagonal, int64_t m,         \
                     int64_t n, SCALAR alpha, pointer a, int64_t lda, void* b, int64_t ldb) {    \
    BLAS_SITE(NAME, TYPE, ROUTINE, INT, true);                                                   \
    struct hoist_blas_call call;                                                                 \
    const void* frame = NULL;                                                                    \
    bool is_column_major;                                                                        \
    if (is_large_product((INT)m, (INT)n, side == CBLAS_LEFT ? (INT)m : (INT)n) &&                \
        read_layout(layout, &is_column_major) && read_transpose_number(trans, &call.trans_a) &&  \
        read_number(side, CBLAS_LEFT, CBLAS_RIGHT, &call.left) &&                                \
        read_number(uplo, CBLAS_UPPER, CBLAS_LOWER, &call.upper) &&                              \
        read_number(diagonal, CBLAS_UNIT, CBLAS_NON_UNIT, &call.unit)) {                         \
      call.trans_b = 'N';                                                                        \
      call.left = call.left == is_column_major;                                                  \
      call.upper = call.upper == is_column_major;                                                \
      set_sizes(&call, is_column_major ? (INT)m : (INT)n, is_column_major ? (INT)n : (INT)m, 0); \
      set_matrices(&call, a, (INT)lda, NULL, 0, b, (INT)ldb);                                    \
      LOAD(alpha, call.alpha);                                                                   \
      call.beta[0] = call.beta[1] = 0;                                                           \
      if (offer_blas(&site, &call, CALLER)) return;                                              \
      frame = enter_blas();                                                                      \
    }                                                                                            \
    ((__typeof__(&NAME))need_blas(&site.original, #NAME, CALLER))(                               \
        layout, side, uplo, trans, diagonal, m, n, alpha, a, lda, b, ldb);                       \
    leave_blas(frame);                                                                           \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

#define ALL_OF_TYPE(T, TYPE, SCALAR, LOAD, PREFIX, SUFFIX, INT)                \
  GEMM(PREFIX##T##gemm##SUFFIX, TYPE, SCALAR, LOAD, INT)                       \
  SYMM(PREFIX##T##symm##SUFFIX, TYPE, SCALAR, LOAD, INT, HOIST_BLAS_SYMM)      \
  SYRK(PREFIX##T##syrk##SUFFIX, TYPE, SCALAR, LOAD, INT, HOIST_BLAS_SYRK, 'T') \
  TRMM(PREFIX##T##trmm##SUFFIX, TYPE, SCALAR, LOAD, INT, HOIST_BLAS_TRMM)      \
  TRMM(PREFIX##T##trsm##SUFFIX, TYPE, SCALAR, LOAD, INT, HOIST_BLAS_TRSM)

#define ALL(PREFIX, SUFFIX, INT)                                                \
  ALL_OF_TYPE(s, 's', float, load_real, PREFIX, SUFFIX, INT)                    \
  ALL_OF_TYPE(d, 'd', double, load_real, PREFIX, SUFFIX, INT)                   \
  ALL_OF_TYPE(c, 'c', pointer, load_c, PREFIX, SUFFIX, INT)                     \
  ALL_OF_TYPE(z, 'z', pointer, load_z, PREFIX, SUFFIX, INT)                     \
  SYMM(PREFIX##chemm##SUFFIX, 'c', pointer, load_c, INT, HOIST_BLAS_HEMM)       \
  SYMM(PREFIX##zhemm##SUFFIX, 'z', pointer, load_z, INT, HOIST_BLAS_HEMM)       \
  SYRK(PREFIX##cherk##SUFFIX, 'c', float, load_real, INT, HOIST_BLAS_HERK, 'C') \
  SYRK(PREFIX##zherk##SUFFIX, 'z', double, load_real, INT, HOIST_BLAS_HERK, 'C')

ALL(cblas_, , int32_t)
ALL(cblas_, 64_, int64_t)
ALL(cblas_, _64, int64_t)
ALL(scipy_cblas_, , int32_t)
ALL(scipy_cblas_, 64_, int64_t)
