/* The program headers of the program in this process, without the dynamic linker's lock. */
#ifndef HOIST_INTERCEPT_PROGRAM_HEADERS_H
#define HOIST_INTERCEPT_PROGRAM_HEADERS_H

#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>

struct program_headers {
  const ElfW(Phdr) * first;
  size_t count;
  uintptr_t base; /* what addresses in the file are relative to */
};

/* None where the program does not tell where they lie, as all that a linker makes do (PT_PHDR). */
static inline struct program_headers program_headers(void) {
  struct program_headers program = {(const ElfW(Phdr)*)getauxval(AT_PHDR), getauxval(AT_PHNUM), 0};
  for (size_t i = 0; i < program.count; ++i) {
    if (program.first[i].p_type != PT_PHDR) continue;
    program.base = (uintptr_t)program.first - program.first[i].p_vaddr;
    return program;
  }
  program.count = 0;
  return program;
}

#endif
