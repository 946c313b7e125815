/* include/hoist/gemm.h, for programs that look it up: the engine keeps the list. */
#include <errno.h>
#include <stddef.h>

#include "hoist/gemm.h"
#include "intercept/blas.h"
#include "intercept/engine_library.h"

static int ask(enum hoist_gemm_wish wish, const void* memory, size_t bytes) {
  static struct engine_library engine = {.operation = "gemm", .function = "hoist_gemm_residency"};
  hoist_gemm_residency_function* residency =
      (hoist_gemm_residency_function*)engine_function(&engine);
  return residency != NULL ? residency(wish, memory, bytes) : ENOSYS;
}

EXPORTED int hoist_gemm_keep(const void* memory, size_t bytes, unsigned flags) {
  return flags == 0 ? ask(HOIST_GEMM_KEEP, memory, bytes) : EINVAL;
}

EXPORTED int hoist_gemm_dirty(const void* memory, size_t bytes) {
  return ask(HOIST_GEMM_DIRTY, memory, bytes);
}

EXPORTED int hoist_gemm_release(const void* memory) { return ask(HOIST_GEMM_RELEASE, memory, 1); }
