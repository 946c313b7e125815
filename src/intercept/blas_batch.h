/* Batches of products, of which a program asks in groups of one shape each: what their interposed
 * names (blas_batch_names.c) hand over, and what becomes of it. */
#ifndef HOIST_INTERCEPT_BLAS_BATCH_H
#define HOIST_INTERCEPT_BLAS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "intercept/blas.h"

/* One interposed name, with gemm's of the same family: that does one product of the batch. */
struct blas_batch_site {
  struct blas_site gemm;
  const char* name;
  void* original;         /* find_blas()'s slot */
  bool is_missing;        /* the program's BLAS has gemm alone */
  blas_function* checked; /* has_integers_of() */
};

/* The arguments, as arrays with an element for each group. */
struct blas_batch {
  int layout;          /* CBLAS's number */
  const void* trans_a; /* letters, or CBLAS's numbers */
  const void* trans_b;
  const void* m; /* integers of the site's width, and so all that follow */
  const void* n;
  const void* k;
  const void* alpha; /* scalars of the type */
  const void* lda;
  const void* ldb;
  const void* beta;
  const void* ldc;
  const void* sizes; /* products of each group */
  int64_t groups;
  /* Places of the matrices, of all groups one after another … */
  const void* const* a;
  const void* const* b;
  void* const* c;
  /* … or of one group, by strides: where the first are. */
  bool is_strided;
  struct hoist_blas_items strided_a;
  struct hoist_blas_items strided_b;
  struct hoist_blas_items strided_c;
  const void* first_a;
  const void* first_b;
  void* first_c;
};

/* The whole batch, of groups by pointers: what the engine does not do goes to the program's
 * routine, as many groups at once as follow one another, or product by product to its gemm where it
 * has no such routine. `lengths`: of the option strings, as Fortran passes them. */
void run_batch(struct blas_batch_site* site, const struct blas_batch* batch,
               const size_t lengths[2], const void* caller);

/* Whether the engine, or the program's gemm where the program's BLAS has no such routine, did the
 * one group of a strided batch; else it is for find_blas_batch(). */
bool run_strided_batch(struct blas_batch_site* site, const struct blas_batch* batch,
                       const void* caller);
blas_function* find_blas_batch(struct blas_batch_site* site, const void* caller);

#endif
