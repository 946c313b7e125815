#include "intercept/watching_tool.h"

#include <stdbool.h>
#include <stddef.h>

#include "intercept/program_headers.h"

/* Each tool's library, or the program that it is linked into, defines one of these; filled in when
 * we are loaded. UBSan alone watches no calls. */
extern void __asan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));
extern void __lsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void _vgnU_freeres(void) __attribute__((weak));

/* Whether the program has functions that run before all constructors (System V gABI,
 * DT_PREINIT_ARRAY), as a sanitizer that is linked into it has. By -static-libasan of gcc its names
 * are not to be seen. */
static bool has_linked_in_tool(void) {
  const struct program_headers program = program_headers();
  for (size_t i = 0; i < program.count; ++i) {
    if (program.first[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn)* entry = (const ElfW(Dyn)*)(program.base + program.first[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_PREINIT_ARRAY) return true;
    }
  }
  return false;
}

const char* watching_tool(void) {
  if (__asan_init != NULL) return "AddressSanitizer watches its calls";
  if (__hwasan_init != NULL) return "HWAddressSanitizer watches its calls";
  if (__lsan_init != NULL) return "LeakSanitizer watches its calls";
  if (__msan_init != NULL) return "MemorySanitizer watches its calls";
  if (__tsan_init != NULL) return "ThreadSanitizer watches its calls";
  if (_vgnU_freeres != NULL) return "valgrind watches its calls";
  return has_linked_in_tool() ? "a run-time system in it watches its calls" : NULL;
}
