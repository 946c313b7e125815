/* What the interposed routines of BLAS share: each looks at its sizes, puts a large call into the
 * engine's form and offers it; what is not done is the original's, with the caller's own arguments.
 */
#ifndef HOIST_INTERCEPT_BLAS_H
#define HOIST_INTERCEPT_BLAS_H

#include <stdbool.h>

#include "intercept/blas_original.h"
#include "ops/gemm/call.h"

/* One interposed name. */
struct blas_site {
  const char* name;
  enum hoist_blas_routine routine;
  char type; /* 's', 'd', 'c', 'z' */
  bool is_cblas;
  void* original; /* find_blas()'s slot */
};

/* Additions and multiplications, in pairs, from which on a call is looked at: what a few cores do
 * in the time that a GPU needs to be told. */
static inline bool is_large_product(int64_t m, int64_t n, int64_t k) {
  const double kLargeProduct = 1 << 27;
  return m > 0 && n > 0 && k > 0 && (double)m * (double)n * (double)k >= kLargeProduct;
}

/* Around the original's work on a call that was offered: it may call itself by the names that we
 * stand for, which is the same call and not offered again. leave_blas(NULL) does nothing. An
 * original that leaves by longjmp(), out of its report of an error, is forgotten by the next call
 * from no deeper in the stack. */
const void* enter_blas(void);
void leave_blas(const void* frame);

/* Whether the engine did `call`. `caller`: an address in the code that called. */
bool offer_blas(struct blas_site* site, struct hoist_blas_call* call, const void* caller);

/* Whether an option's letter is the first or the second of two, in either case; false: neither. */
bool read_option(const char* option, const char* letters, bool* is_first);
/* 'N', 'T' or 'C' of the letter; false: none of them. */
bool read_transpose(const char* option, char* trans);
/* The same of CBLAS's numbers. */
bool read_number(int option, int first, int second, bool* is_first);
bool read_transpose_number(int option, char* trans);

#endif
