/* libhoist_qsort.so: sorts what qsort() was asked to sort, without the comparator where it can find
 * out what the comparator does.
 *
 * The comparator is asked about a sample of the elements, on the calling thread; where the answers
 * are those of up to three plain keys in order (docs/reference/qsort.md lists them), the array is
 * sorted by these keys, over several threads where that pays. Then the comparator judges every
 * neighbouring pair, again on the calling thread. For a strict weak order the result is that of a
 * stable sort, bit for bit, which is glibc's. For a comparator that is none, the array is a
 * permutation of what it was.
 *
 *   if (!hoist_qsort(base, count, size, compare, context, original)) {
 *     original(base, count, size, compare, context);
 *   }
 *
 * Any thread may call it, several at once, also in a child after fork(); not in a signal handler
 * (nor may qsort() be called there) and not in a vfork() child. The comparator may throw, call
 * longjmp(), qsort() or fork(): at each of its calls the array holds a permutation of the input.
 * The comparator is only ever given pointers to two different elements of the array. errno is what
 * it was before the call, or what the comparator made of it. Signals are held back while we sort,
 * and no thread of ours runs while the comparator does, or after the call. It wants 256 KiB of
 * stack, the thread's own. */
#ifndef HOIST_OPS_QSORT_QSORT_H
#define HOIST_OPS_QSORT_QSORT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int hoist_compare(const void*, const void*, void*);
typedef void hoist_qsort_r(void* base, size_t count, size_t size, hoist_compare* compare,
                           void* context);
typedef bool hoist_qsort_function(void* base, size_t count, size_t size, hoist_compare* compare,
                                  void* context, hoist_qsort_r* original);

/* Whether it sorted. False: the array is as it was, and `original`, the C library's qsort_r(), has
 * to sort it. `original` also sorts short runs of elements that only the comparator can tell apart,
 * and is the other side of --verify. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
bool hoist_qsort(void* base, size_t count, size_t size, hoist_compare* compare, void* context,
                 hoist_qsort_r* original);

#ifdef __cplusplus
}
#endif

#endif
