/* What the interposed routines of BLAS share: each looks at its sizes, puts a large call into the
 * engine's form and offers it; what is not done is the original's, with the caller's own arguments.
 */
#ifndef HOIST_INTERCEPT_BLAS_H
#define HOIST_INTERCEPT_BLAS_H

#include <stdbool.h>

#include "intercept/blas_original.h"
#include "ops/gemm/call.h"

#define EXPORTED __attribute__((visibility("default")))
/* An address in the code that called an interposed routine. */
#define CALLER __builtin_return_address(0)

typedef const void* pointer;

/* One interposed name. */
struct blas_site {
  const char* name;
  enum hoist_blas_routine routine;
  char type; /* 's', 'd', 'c', 'z' */
  bool is_cblas;
  bool is_wide;           /* its integers have 64 bits */
  void* original;         /* find_blas()'s slot */
  blas_function* checked; /* has integers of the name's width; has_integers_of() */
};

/* NOLINTBEGIN(bugprone-macro-parentheses): names and types, which are no expressions. */
#define BLAS_SITE_OF(NAME, TYPE, ROUTINE, INT, IS_CBLAS)                         \
  {                                                                              \
    .name = #NAME, .routine = (ROUTINE), .type = (TYPE), .is_cblas = (IS_CBLAS), \
    .is_wide = sizeof(INT) == sizeof(int64_t)                                    \
  }
#define BLAS_SITE(NAME, TYPE, ROUTINE, INT, IS_CBLAS) \
  static struct blas_site site = BLAS_SITE_OF(NAME, TYPE, ROUTINE, INT, IS_CBLAS)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Additions and multiplications, in pairs, from which on a call is looked at: what a few cores do
 * in the time that a GPU needs to be told; HOIST_GEMM_SMALLEST. */
extern double least_work;

static inline bool is_large_work(double pairs) { return pairs >= least_work; }
static inline bool is_large_product(int64_t m, int64_t n, int64_t k) {
  return m > 0 && n > 0 && k > 0 && is_large_work((double)m * (double)n * (double)k);
}

/* A scalar of a type, in memory, as the engine takes it. */
static inline void load_s(pointer from, double to[2]) {
  to[0] = *(const float*)from;
  to[1] = 0;
}
static inline void load_d(pointer from, double to[2]) {
  to[0] = *(const double*)from;
  to[1] = 0;
}
static inline void load_c(pointer from, double to[2]) {
  to[0] = ((const float*)from)[0];
  to[1] = ((const float*)from)[1];
}
static inline void load_z(pointer from, double to[2]) {
  to[0] = ((const double*)from)[0];
  to[1] = ((const double*)from)[1];
}

static inline void set_sizes(struct hoist_blas_call* call, int64_t m, int64_t n, int64_t k) {
  call->m = m, call->n = n, call->k = k;
}

/* Sets the matrices of a call that is no batch. */
static inline void set_matrices(struct hoist_blas_call* call, pointer a, int64_t lda, pointer b,
                                int64_t ldb, void* c, int64_t ldc) {
  call->a = a, call->lda = lda;
  call->b = b, call->ldb = ldb;
  call->c = c, call->ldc = ldc;
  call->batch.count = 1;
}

/* Around the original's work on a call that was offered: it may call itself by the names that we
 * stand for, which is the same call and not offered again. leave_blas(NULL) does nothing. An
 * original that leaves by longjmp(), out of its report of an error, is forgotten by the next call
 * from no deeper in the stack. */
const void* enter_blas(void);
void leave_blas(const void* frame);

/* Whether what was found reads integers of the width that the site's name stands for: a BLAS that
 * was built for 64 bits may have the plain names, and its callers' numbers are not to be cut.
 * `checked` keeps the last function that does. */
bool has_integers_of(const struct blas_site* site, blas_function* function,
                     blas_function** checked);

/* Whether the engine did `call`. `caller`: an address in the code that called. */
bool offer_blas(struct blas_site* site, struct hoist_blas_call* call, const void* caller);

/* Whether an option's letter is the first or the second of two, in either case; false: neither. */
bool read_option(const char* option, const char* letters, bool* is_first);
/* 'N', 'T' or 'C' of the letter; false: none of them. */
bool read_transpose(const char* option, char* trans);
/* The same of CBLAS's numbers. */
bool read_number(int option, int first, int second, bool* is_first);
bool read_layout(int layout, bool* is_column_major);
bool read_transpose_number(int option, char* trans);

#endif
