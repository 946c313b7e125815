/* Batched products by their names: cblas_dgemm_batch and cblas_dgemm_batch_strided with their
 * Fortran relatives, in the argument orders that MKL, and OpenBLAS from 0.3.27 on, have in common.
 * Widths of integers and prefixes are those of the other routines (blas_cblas.c, blas_fortran.c).
 */
#include <stddef.h>

#include "intercept/blas_batch.h"
#include "ops/gemm/cblas.h"

typedef const char* text;

/* NOLINTBEGIN(bugprone-macro-parentheses): types and names, which are no expressions. */
#define BATCH_SITE(NAME, GEMM, TYPE, INT, IS_CBLAS) \
  static struct blas_batch_site site = {            \
      .gemm = BLAS_SITE_OF(GEMM, TYPE, HOIST_BLAS_GEMM, INT, IS_CBLAS), .name = #NAME}

/* The fields of a batch whose arguments have these names and are arrays, or by reference. */
#define ARRAYS                                                                                  \
  .trans_a = ta, .trans_b = tb, .m = m, .n = n, .k = k, .alpha = alpha, .lda = lda, .ldb = ldb, \
  .beta = beta, .ldc = ldc
#define POINTERS(COUNT) .groups = (COUNT), .sizes = sizes, .a = a, .b = b, .c = c
#define STRIDES(A, B, C)                                                           \
  .groups = 1, .is_strided = true, .strided_a = {NULL, A}, .strided_b = {NULL, B}, \
  .strided_c = {NULL, C}, .first_a = a, .first_b = b, .first_c = c

#define CBLAS_BATCH(NAME, GEMM, TYPE, INT)                                                        \
  EXPORTED void NAME(int layout, pointer ta, pointer tb, pointer m, pointer n, pointer k,         \
                     pointer alpha, const pointer* a, pointer lda, const pointer* b, pointer ldb, \
                     pointer beta, void* const* c, pointer ldc, int64_t groups, pointer sizes) {  \
    BATCH_SITE(NAME, GEMM, TYPE, INT, true);                                                      \
    const struct blas_batch batch = {.layout = layout, ARRAYS, POINTERS((INT)groups)};            \
    run_batch(&site, &batch, (const size_t[2]){0, 0}, CALLER);                                    \
  }

#define FORTRAN_BATCH(NAME, GEMM, TYPE, INT)                                                     \
  EXPORTED void NAME(text ta, text tb, pointer m, pointer n, pointer k, pointer alpha,           \
                     const pointer* a, pointer lda, const pointer* b, pointer ldb, pointer beta, \
                     void* const* c, pointer ldc, const INT* groups, pointer sizes,              \
                     size_t length_a, size_t length_b) {                                         \
    BATCH_SITE(NAME, GEMM, TYPE, INT, false);                                                    \
    const struct blas_batch batch = {.layout = CBLAS_COLUMN_MAJOR, ARRAYS, POINTERS(*groups)};   \
    run_batch(&site, &batch, (const size_t[2]){length_a, length_b}, CALLER);                     \
  }

/* Scalars by value have an address here. */
#define CBLAS_STRIDED(NAME, GEMM, TYPE, SCALAR, ADDRESS, INT)                                     \
  EXPORTED void NAME(int layout, int ta, int tb, int64_t m, int64_t n, int64_t k, SCALAR alpha,   \
                     pointer a, int64_t lda, int64_t stride_a, pointer b, int64_t ldb,            \
                     int64_t stride_b, SCALAR beta, void* c, int64_t ldc, int64_t stride_c,       \
                     int64_t count) {                                                             \
    BATCH_SITE(NAME, GEMM, TYPE, INT, true);                                                      \
    const INT sizes[] = {(INT)m, (INT)n, (INT)k, (INT)lda, (INT)ldb, (INT)ldc, (INT)count};       \
    const struct blas_batch batch = {.layout = layout,                                            \
                                     .trans_a = &ta,                                              \
                                     .trans_b = &tb,                                              \
                                     .m = &sizes[0],                                              \
                                     .n = &sizes[1],                                              \
                                     .k = &sizes[2],                                              \
                                     .lda = &sizes[3],                                            \
                                     .ldb = &sizes[4],                                            \
                                     .ldc = &sizes[5],                                            \
                                     .sizes = &sizes[6],                                          \
                                     .alpha = ADDRESS alpha,                                      \
                                     .beta = ADDRESS beta,                                        \
                                     STRIDES((INT)stride_a, (INT)stride_b, (INT)stride_c)};       \
    if (run_strided_batch(&site, &batch, CALLER)) return;                                         \
    const void* frame = enter_blas();                                                             \
    ((__typeof__(&NAME))find_blas_batch(&site, CALLER))(layout, ta, tb, m, n, k, alpha, a, lda,   \
                                                        stride_a, b, ldb, stride_b, beta, c, ldc, \
                                                        stride_c, count);                         \
    leave_blas(frame);                                                                            \
  }

#define FORTRAN_STRIDED(NAME, GEMM, TYPE, INT)                                                    \
  EXPORTED void NAME(text ta, text tb, const INT* m, const INT* n, const INT* k, pointer alpha,   \
                     pointer a, const INT* lda, const INT* stride_a, pointer b, const INT* ldb,   \
                     const INT* stride_b, pointer beta, void* c, const INT* ldc,                  \
                     const INT* stride_c, const INT* count, size_t length_a, size_t length_b) {   \
    BATCH_SITE(NAME, GEMM, TYPE, INT, false);                                                     \
    const struct blas_batch batch = {.layout = CBLAS_COLUMN_MAJOR,                                \
                                     ARRAYS,                                                      \
                                     .sizes = count,                                              \
                                     STRIDES(*stride_a, *stride_b, *stride_c)};                   \
    if (run_strided_batch(&site, &batch, CALLER)) return;                                         \
    const void* frame = enter_blas();                                                             \
    ((__typeof__(&NAME))find_blas_batch(&site, CALLER))(ta, tb, m, n, k, alpha, a, lda, stride_a, \
                                                        b, ldb, stride_b, beta, c, ldc, stride_c, \
                                                        count, length_a, length_b);               \
    leave_blas(frame);                                                                            \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

#define ALL_OF_TYPE(T, TYPE, SCALAR, ADDRESS, PREFIX, C_SUFFIX, F_SUFFIX, INT)                  \
  CBLAS_BATCH(PREFIX##cblas_##T##gemm_batch##C_SUFFIX, PREFIX##cblas_##T##gemm##C_SUFFIX, TYPE, \
              INT)                                                                              \
  CBLAS_STRIDED(PREFIX##cblas_##T##gemm_batch_strided##C_SUFFIX,                                \
                PREFIX##cblas_##T##gemm##C_SUFFIX, TYPE, SCALAR, ADDRESS, INT)                  \
  FORTRAN_BATCH(PREFIX##T##gemm_batch##F_SUFFIX, PREFIX##T##gemm##F_SUFFIX, TYPE, INT)          \
  FORTRAN_STRIDED(PREFIX##T##gemm_batch_strided##F_SUFFIX, PREFIX##T##gemm##F_SUFFIX, TYPE, INT)

#define ALL(PREFIX, C_SUFFIX, F_SUFFIX, INT)                      \
  ALL_OF_TYPE(s, 's', float, &, PREFIX, C_SUFFIX, F_SUFFIX, INT)  \
  ALL_OF_TYPE(d, 'd', double, &, PREFIX, C_SUFFIX, F_SUFFIX, INT) \
  ALL_OF_TYPE(c, 'c', pointer, , PREFIX, C_SUFFIX, F_SUFFIX, INT) \
  ALL_OF_TYPE(z, 'z', pointer, , PREFIX, C_SUFFIX, F_SUFFIX, INT)

ALL(, , _, int32_t)
ALL(, 64_, _64_, int64_t)
ALL(, _64, 64_, int64_t)
ALL(scipy_, , _, int32_t)
ALL(scipy_, 64_, _64_, int64_t)
