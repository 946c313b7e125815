/* One call of a level-3 BLAS routine, as the interposed functions hand it to the engine: plain C,
 * column-major, names as in the reference BLAS (Dongarra, Du Croz, Hammarling and Duff, "A set of
 * level 3 basic linear algebra subprograms", ACM TOMS 16, 1990).
 *
 *   gemm         C := alpha op(A) op(B) + beta C         op(A) m×k, op(B) k×n, C m×n
 *   symm, hemm   C := alpha A B + beta C, or B A         A m×m (left) or n×n, B and C m×n
 *   syrk, herk   C := alpha op(A) op(A)' + beta C        op(A) n×k, C n×n, one triangle
 *   trmm         C := alpha op(A) C, or C op(A)          A a triangle, C m×n (B of the standard)
 *   trsm         solves op(A) X = alpha C, or X op(A)    likewise; X takes C's place
 */
#ifndef HOIST_OPS_GEMM_CALL_H
#define HOIST_OPS_GEMM_CALL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hoist_blas_routine {
  HOIST_BLAS_GEMM,
  HOIST_BLAS_SYMM,
  HOIST_BLAS_HEMM,
  HOIST_BLAS_SYRK,
  HOIST_BLAS_HERK,
  HOIST_BLAS_TRMM,
  HOIST_BLAS_TRSM,
};

struct hoist_blas_call {
  enum hoist_blas_routine routine;
  char type;    /* 's', 'd', 'c' or 'z' */
  char trans_a; /* 'N', 'T' or 'C'; the one of syrk, herk, trmm and trsm */
  char trans_b; /* gemm */
  bool left;    /* the side of A: symm, hemm, trmm, trsm */
  bool upper;   /* the triangle that counts, of C (syrk, herk) or A */
  bool unit;    /* A's diagonal is taken as ones: trmm, trsm */
  int64_t m;    /* rows of C; n for syrk and herk */
  int64_t n;
  int64_t k;       /* gemm, syrk, herk */
  double alpha[2]; /* real and imaginary part */
  double beta[2];
  const void* a;
  int64_t lda;
  const void* b; /* gemm, symm, hemm */
  int64_t ldb;
  void* c;
  int64_t ldc;
};

/* What the engine needs of the program: `run` does the call on its own BLAS, with `c` and `ldc` in
 * the place of the call's. */
struct hoist_blas_original {
  void (*run)(const struct hoist_blas_original* original, void* c, int64_t ldc);
};

/* Whether it was done; if not, nothing was changed. */
typedef bool hoist_gemm_function(const struct hoist_blas_call* call,
                                 const struct hoist_blas_original* original);

/* What lib/libhoist_gemm.so exports. */
__attribute__((visibility("default"))) hoist_gemm_function hoist_gemm;

#ifdef __cplusplus
}
#endif

#endif
