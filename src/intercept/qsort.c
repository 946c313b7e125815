/* qsort() and qsort_r(): large arrays are offered to libhoist_qsort.so, which sorts them or leaves
 * them as they are. */
#include "ops/qsort/qsort.h"

#include <stdlib.h>

#include "intercept/engine_library.h"
#include "intercept/stack_room.h"

enum {
  /* Elements of an array from which on asking the comparator some hundred times, for nothing if it
   * is not understood, vanishes beside sorting. */
  kLargeArray = 20000,
  /* Elements of such arrays that a program has to have sorted before the engine is loaded, which
   * takes 0.3 ms, a few percent of the time that so many took. */
  kWorthLoading = 120000,
  /* Bytes of stack. The C library's own qsort() does with a few thousand, and threads may have no
   * more. */
  kEnoughStack = 256 << 10,
};

static const char kLibrary[] = "libc.so.6";

typedef void qsort_function(void*, size_t, size_t, __compar_fn_t);

static void* original_qsort;
static void* original_qsort_r;

static hoist_qsort_r* find_qsort_r(void) {
  return (hoist_qsort_r*)original_function(&original_qsort_r, "qsort_r", kLibrary);
}

static bool is_worth_loading(size_t count) {
  static size_t seen;
  return __atomic_add_fetch(&seen, count, __ATOMIC_RELAXED) >= kWorthLoading;
}

static __attribute__((noinline)) bool sort_large(void* base, size_t count, size_t size,
                                                 hoist_compare* compare, void* context) {
  if (!is_worth_loading(count) || stack_room() < kEnoughStack) return false;
  static struct engine_library engine = {.operation = "qsort", .function = "hoist_qsort"};
  hoist_qsort_function* sort = (hoist_qsort_function*)engine_function(&engine);
  return sort != NULL && sort(base, count, size, compare, context, find_qsort_r());
}

__attribute__((visibility("default"))) void qsort_r(void* base, size_t count, size_t size,
                                                    hoist_compare* compare, void* context) {
  if (count >= kLargeArray && sort_large(base, count, size, compare, context)) return;
  find_qsort_r()(base, count, size, compare, context);
}

__attribute__((visibility("default"))) void qsort(void* base, size_t count, size_t size,
                                                  __compar_fn_t compare) {
  /* A comparator of two arguments does not see the third: the C library itself calls it so. */
  hoist_compare* with_context = (hoist_compare*)(void (*)(void))compare;
  if (count >= kLargeArray && sort_large(base, count, size, with_context, NULL)) return;
  qsort_function* original = (qsort_function*)original_function(&original_qsort, "qsort", kLibrary);
  original(base, count, size, compare);
}
