/* Matrices that stay on the GPU between calls of BLAS.
 *
 * Under `hoist run` a large product uploads what it reads, every time: Hoist cannot know whether
 * the program has changed a matrix since. A program that knows says so:
 *
 *   hoist_gemm_keep_function* keep =
 *       (hoist_gemm_keep_function*)dlsym(RTLD_DEFAULT, "hoist_gemm_keep");
 *   if (keep != NULL) keep(weights, rows * columns * sizeof *weights, 0);
 *   for (...) cblas_dgemm(..., weights, ..., batch, ..., result, ...);
 *
 * The functions are in the process where `hoist run` has preloaded its BLAS part, so they are
 * looked up, not linked; without them a program does the same, slower.
 *
 * Keeping is a promise: from the call on, no byte of [memory, memory + bytes) changes until
 * hoist_gemm_dirty() or hoist_gemm_release(). Results that BLAS writes there count as changes: say
 * hoist_gemm_dirty() before the next product reads them. (Those of large products it notices by
 * itself, whoever does them; small calls, options that only OpenBLAS knows, and 64-bit integers by
 * a 32-bit name it does not see.) A product that reads a matrix which lies in one kept range
 * as a whole uploads it the first time, and from then on uses what is on the GPU. Broken promises
 * give results of the old bytes.
 *
 * Not promised: that a matrix is on the GPU. Its copy goes when the GPU's memory is wanted for
 * products, with the daemon, and in a child after fork(), which keeps nothing. Nor that a product
 * goes to the GPU: that is decided as without.
 *
 * All functions are thread-safe, and return 0 or an errno value: EINVAL (null, no bytes, flags,
 * ranges that overlap one that is kept), ENOENT (nothing is kept there), ENOMEM, ENOSYS (Hoist or
 * gemm is switched off, or there is no engine). No call that reads or writes the range may be going
 * on. */
#ifndef HOIST_GEMM_H
#define HOIST_GEMM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps the range from now on; `flags`: 0. */
typedef int hoist_gemm_keep_function(const void* memory, size_t bytes, unsigned flags);
/* What is in the range has changed, in all or in part: it is uploaded anew when it is read next. It
 * may be part of what is kept, or reach over several. */
typedef int hoist_gemm_dirty_function(const void* memory, size_t bytes);
/* Ends the promise for the range that begins at `memory`, and frees its copies on the GPU. To be
 * called before the memory is freed. */
typedef int hoist_gemm_release_function(const void* memory);

hoist_gemm_keep_function hoist_gemm_keep;
hoist_gemm_dirty_function hoist_gemm_dirty;
hoist_gemm_release_function hoist_gemm_release;

#ifdef __cplusplus
}
#endif

#endif
