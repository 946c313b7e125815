/* The functions by which programs restrict their system calls: noted, and passed on. A program that
 * makes the system call itself by syscall() is not noticed here. */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "intercept/engine_library.h"
#include "intercept/restriction.h"
#include "intercept/watching_tool.h"

enum { SET_SECCOMP = 22 }; /* PR_SET_SECCOMP of linux/prctl.h */

/* The C library's is declared with variable arguments, of which the kernel takes four. */
int interposed_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                     unsigned long d) __asm__("prctl");

__attribute__((visibility("default"))) int interposed_prctl(int option, unsigned long a,
                                                            unsigned long b, unsigned long c,
                                                            unsigned long d) {
  if (option == SET_SECCOMP) note_restriction();
  if (watching_tool() != NULL) {
    static void* slot;
    typedef int prctl_function(int, ...);
    prctl_function* original = (prctl_function*)original_function(&slot, "prctl", "libc.so.6");
    return original(option, a, b, c, d);
  }
  return (int)syscall(SYS_prctl, option, a, b, c, d);
}

/* libseccomp's, with its filter in `context`. */
int seccomp_load(void* context);

__attribute__((visibility("default"))) int seccomp_load(void* context) {
  static void* slot;
  typedef int load_function(void*);
  load_function* load = (load_function*)original_function(&slot, "seccomp_load", "libseccomp.so.2");
  if (load == NULL) return -ENOSYS; /* a weak reference, and no libseccomp */
  note_restriction();
  return load(context);
}
