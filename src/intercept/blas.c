#include "intercept/blas.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/engine_library.h"
#include "intercept/kept_environment.h"
#include "intercept/preload.h"
#include "intercept/record.h"
#include "ops/gemm/cblas.h"

enum { CASE_BIT = 0x20 };

double least_work = 1 << 27;

__attribute__((constructor)) static void read_least_work(void) {
  const char* given = getenv("HOIST_GEMM_SMALLEST");
  const bool is_number =
      given != NULL && *given != '\0' && given[strspn(given, "0123456789")] == '\0';
  if (!is_number) return;
  errno = 0;
  const unsigned long long number = strtoull(given, NULL, 10);
  if (errno == 0) least_work = (double)number;
}

/* The stack frame of the call that is being done on this thread; what is called from there has its
 * frames below it. */
static __thread const void* outermost __attribute__((tls_model("initial-exec")));

static bool is_inside(void) {
  return outermost != NULL && (uintptr_t)__builtin_frame_address(0) < (uintptr_t)outermost;
}

const void* enter_blas(void) {
  if (is_inside()) return NULL;
  outermost = __builtin_frame_address(0);
  return outermost;
}

void leave_blas(const void* frame) {
  if (frame != NULL) outermost = NULL;
}

bool has_integers_of(const struct blas_site* site, blas_function* function,
                     blas_function** checked) {
  if (site->is_wide || __atomic_load_n(checked, __ATOMIC_RELAXED) == function) return true;
  if (reads_wide_integers(function)) {
    const char* counters = hoist_environment(HOIST_COUNTERS_ENV);
    if (counters != NULL) record_passed(counters, "gemm", "64-bit integers by a 32-bit name");
    return false;
  }
  __atomic_store_n(checked, function, __ATOMIC_RELAXED);
  return true;
}

bool offer_blas(struct blas_site* site, struct hoist_blas_call* call, const void* caller) {
  static struct engine_library engine = {.operation = "gemm", .function = "hoist_gemm"};
  if (is_inside()) return false;
  hoist_gemm_function* gemm = (hoist_gemm_function*)engine_function(&engine);
  if (gemm == NULL) return false;
  blas_function* function = find_blas(&site->original, site->name, caller);
  if (function == NULL || !has_integers_of(site, function, &site->checked)) return false;
  call->routine = site->routine;
  call->type = site->type;
  const struct blas_original original = make_blas_original(function, site->is_cblas, site->type);
  const void* frame = enter_blas();
  const bool is_done = gemm(call, &original.base);
  leave_blas(frame);
  return is_done;
}

bool read_option(const char* option, const char* letters, bool* is_first) {
  const char letter = (char)(*option & ~CASE_BIT);
  *is_first = letter == letters[0];
  return *is_first || letter == letters[1];
}

bool read_transpose(const char* option, char* trans) {
  *trans = (char)(*option & ~CASE_BIT);
  return *trans == 'N' || *trans == 'T' || *trans == 'C';
}

bool read_number(int option, int first, int second, bool* is_first) {
  *is_first = option == first;
  return *is_first || option == second;
}

bool read_layout(int layout, bool* is_column_major) {
  return read_number(layout, CBLAS_COLUMN_MAJOR, CBLAS_ROW_MAJOR, is_column_major);
}

bool read_transpose_number(int option, char* trans) {
  *trans = option == CBLAS_NO_TRANSPOSE          ? 'N'
           : option == CBLAS_TRANSPOSE           ? 'T'
           : option == CBLAS_CONJUGATE_TRANSPOSE ? 'C'
           : option == CBLAS_CONJUGATE           ? 'R'
                                                 : '\0';
  return *trans == 'N' || *trans == 'T' || *trans == 'C';
}
