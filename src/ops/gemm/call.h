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
#include <stddef.h>
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

/* More products of the same shape and scalars (gemm only), whose results must lie apart. Item i of
 * a matrix is at `items[i]`, or `stride` elements behind item i - 1; 0: all have the same. */
struct hoist_blas_items {
  const void* const* items; /* null: by the stride, from the call's pointer on */
  int64_t stride;
};

struct hoist_blas_batch {
  int64_t count; /* up to 1: the call is no batch, and what follows does not count */
  struct hoist_blas_items a;
  struct hoist_blas_items b;
  struct hoist_blas_items c;
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
  struct hoist_blas_batch batch;
  bool may_use_tf32; /* types s and c; the engine's own, whoever calls leaves it */
};

/* What the engine needs of the program: `run` does a call, one product of those that were offered,
 * on its own BLAS. */
struct hoist_blas_original {
  void (*run)(const struct hoist_blas_original* original, const struct hoist_blas_call* call);
};

/* Whether it was done; if not, nothing was changed. */
typedef bool hoist_gemm_function(const struct hoist_blas_call* call,
                                 const struct hoist_blas_original* original);

/* What a program may want of matrices between its calls (include/hoist/gemm.h); 0, or an errno
 * value.
 */
enum hoist_gemm_wish { HOIST_GEMM_KEEP, HOIST_GEMM_DIRTY, HOIST_GEMM_RELEASE };
typedef int hoist_gemm_residency_function(enum hoist_gemm_wish wish, const void* memory,
                                          size_t bytes);

/* What lib/libhoist_gemm.so exports. */
__attribute__((visibility("default"))) hoist_gemm_function hoist_gemm;
__attribute__((visibility("default"))) hoist_gemm_residency_function hoist_gemm_residency;

#ifdef __cplusplus
}
#endif

#endif
