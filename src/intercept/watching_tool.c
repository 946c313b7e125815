#include "intercept/watching_tool.h"

#include <stdbool.h>
#include <stddef.h>

#include "intercept/loaded_symbols.h"

/* What each tool's library, or the program that it is linked into, defines. UBSan alone watches no
 * calls. */
static const char* const kNames[] = {"__asan_init", "__hwasan_init", "__lsan_init",
                                     "__msan_init", "__tsan_init",   "_vgnU_freeres"};
static const char* const kReasons[] = {
    "AddressSanitizer watches its calls", "HWAddressSanitizer watches its calls",
    "LeakSanitizer watches its calls",    "MemorySanitizer watches its calls",
    "ThreadSanitizer watches its calls",  "valgrind watches its calls"};
enum { kTools = sizeof kNames / sizeof *kNames };

/* A sanitizer that gcc has linked into the program (-static-libasan) shows none of its names. */
static const char kLinkedIn[] = "a run-time system in it watches its calls";

static const char* look(void) {
  const int tool = find_any_loaded(kNames, kTools);
  if (tool >= 0) return kReasons[tool];
  return program_starts_before_libraries() ? kLinkedIn : NULL;
}

static const char* reason;
static bool looked;

const char* watching_tool(void) {
  if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&reason, look(), __ATOMIC_RELAXED);
    __atomic_store_n(&looked, true, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&reason, __ATOMIC_RELAXED);
}

/* Looked for now: prctl(), which asks, may be called where another thread's locks are held for
 * good, between fork() and exec. */
__attribute__((constructor)) static void look_at_start(void) { (void)watching_tool(); }
