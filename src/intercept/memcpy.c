/* libhoist_preload_memcpy.so: memcpy() and memmove() whose very large calls are offered to
 * libhoist_memcpy.so.
 *
 * A library of its own, because a symbol that is interposed is interposed for every call of every
 * program: `hoist run` preloads it only where the operation is asked for (--ops=+memcpy). Small
 * calls cost a comparison and a jump.
 *
 * Both names end in the original memmove(), which in the C library is memcpy() as well: programs
 * linked against memcpy@GLIBC_2.2.5 count on it. They may be called before this library has been
 * relocated, by the resolvers of indirect functions; so the fast path touches nothing but zeroed
 * memory of our own, and copies by itself until the original has been found. */
#include "ops/memcpy/memcpy.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "intercept/engine_library.h"
#include "intercept/stack_room.h"
#include "intercept/watching_tool.h"

enum {
  /* Bytes from which on threads are worth their start: docs/measurements/libraries.md. */
  kLargeCopy = 64 << 20,
  kEnoughStack = 128 << 10,
};

typedef void* memmove_function(void*, const void*, size_t);

static memmove_function* original_memcpy;
static memmove_function* original_memmove;

__attribute__((constructor)) static void find_originals(void) {
  original_memmove = (memmove_function*)dlsym(RTLD_NEXT, "memmove");
  original_memcpy = original_memmove;
  /* A sanitizer's is another one: it complains of a target that overlaps its source. */
  if (watching_tool() != NULL) original_memcpy = (memmove_function*)dlsym(RTLD_NEXT, "memcpy");
}

/* Descending addresses where the target lies above, within the source. */
static __attribute__((noinline)) void* move_bytes(void* to, const void* from, size_t size) {
  void* target = to;
  if ((size_t)((char*)to - (const char*)from) >= size) {
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(size) : : "memory");
    return to;
  }
  target = (char*)to + size - 1;
  from = (const char*)from + size - 1;
  __asm__ volatile("std\n\trep movsb\n\tcld" : "+D"(target), "+S"(from), "+c"(size) : : "memory");
  return to;
}

/* memcpy() is allowed in signal handlers, which have their signal blocked; there we start nothing.
 * Neither do the threads of our engines, which block all. */
static bool may_be_in_handler(void) {
  sigset_t blocked;
  return pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0 || !sigisemptyset(&blocked);
}

static inline void* move(memmove_function* original, void* to, const void* from, size_t size) {
  if (__builtin_expect(original == NULL, 0)) return move_bytes(to, from, size);
  return original(to, from, size);
}

static hoist_memcpy_function* find_engine(void) {
  static struct engine_library engine = {.operation = "memcpy", .function = "hoist_memcpy"};
  if (original_memmove == NULL || may_be_in_handler() || stack_room() < kEnoughStack) return NULL;
  return (hoist_memcpy_function*)engine_function(&engine);
}

static __attribute__((noinline)) void* move_large(memmove_function* original, void* to,
                                                  const void* from, size_t size) {
  hoist_memcpy_function* const copy = find_engine();
  return copy != NULL && copy(to, from, size) ? to : move(original, to, from, size);
}

__attribute__((visibility("default"))) void* memcpy(void* restrict to, const void* restrict from,
                                                    size_t size) {
  return __builtin_expect(size >= kLargeCopy, 0) ? move_large(original_memcpy, to, from, size)
                                                 : move(original_memcpy, to, from, size);
}

__attribute__((visibility("default"))) void* memmove(void* to, const void* from, size_t size) {
  return __builtin_expect(size >= kLargeCopy, 0) ? move_large(original_memmove, to, from, size)
                                                 : move(original_memmove, to, from, size);
}
