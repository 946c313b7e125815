/* The program's own BLAS: where a routine is, and how to call it for a call in the engine's form.
 */
#ifndef HOIST_INTERCEPT_BLAS_ORIGINAL_H
#define HOIST_INTERCEPT_BLAS_ORIGINAL_H

#include <stdbool.h>

#include "ops/gemm/call.h"

typedef void blas_function(void);

/* The routine `name` that comes behind ours for the code at `caller`: a BLAS that was loaded by
 * dlopen() without RTLD_GLOBAL, as Python's modules load theirs, is found by the libraries of the
 * caller (intercept/caller_scope.h). Null where no loaded library has it. */
blas_function* find_blas(void** slot, const char* name, const void* caller);

/* The same for a call that nobody else can do: where no library has the routine the program ends
 * (SIGABRT) with a line that says so. It found ours when it asked for the name. */
blas_function* need_blas(void** slot, const char* name, const void* caller);

/* Whether the library that holds `function` reads integers of 64 bits; false too where it cannot be
 * asked. */
bool reads_wide_integers(blas_function* function);

struct blas_original {
  struct hoist_blas_original base; /* first: the engine sees this part */
  blas_function* function;
};

/* Calls of the routine `function`, which has the C or the Fortran interface and is of this type.
 * Integers may be of 32 or 64 bits in either. */
struct blas_original make_blas_original(blas_function* function, bool is_cblas, char type);

#endif
