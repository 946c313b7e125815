/* Functions of zlib that work in one call: compress(), uncompress() and the like.
 *
 * Where zlib calls itself through us, as Debian's does, deflate() and inflate() of ours may serve
 * them; where it binds its own calls, as Ubuntu's does, nothing but these names is to be seen.
 *
 * They are names that other libraries have for something else, with any arguments. So what is
 * exported is a few instructions that keep every register that may hold an argument, ask where this
 * caller is to go, and jump there: to a function of ours only where the caller's is zlib's. */
#ifndef HOIST_INTERCEPT_JUMP_H
#define HOIST_INTERCEPT_JUMP_H

#include "intercept/zlib_identity.h"

struct jump {
  const char* name;
  const char* within; /* not where zlib's own calls this, and we are asked; null: always */
  void* ours;
  void* original; /* the rest is jump.c's; zeros at first */
  struct zlib_identity identity;
};

/* zlib's function, or one that fails where there is none. */
void* jump_original(struct jump* jump, const void* caller);

/* Where the call that returns to `caller` is to go. */
void* jump_target(struct jump* jump, const void* caller);

/* Exports NAME, which goes on where jump_target(JUMP, …) says. The register of the number of vector
 * arguments (al) and that of nested functions (r10) are kept as well (System V ABI for AMD64,
 * 3.2.3). What is jumped to finds the program's return address as its own. */
/* clang-format off */
#define EXPORT_JUMP(NAME, JUMP)                                                         \
  __attribute__((used)) static void* jump_target_of_##NAME(const void* caller) {        \
    return jump_target(JUMP, caller);                                                   \
  }                                                                                     \
  __asm__(".pushsection .text\n"                                                        \
          ".globl " #NAME "\n"                                                          \
          ".type " #NAME ", @function\n"                                                \
          #NAME ":\n"                                                                   \
          ".cfi_startproc\n"                                                            \
          "endbr64\n"                                                                   \
          "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"                 \
          "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                               \
          "sub $192, %rsp\n"                                                            \
          "mov %rdi, (%rsp)\nmov %rsi, 8(%rsp)\nmov %rdx, 16(%rsp)\n"                  \
          "mov %rcx, 24(%rsp)\nmov %r8, 32(%rsp)\nmov %r9, 40(%rsp)\n"                 \
          "mov %rax, 48(%rsp)\nmov %r10, 56(%rsp)\n"                                   \
          "movaps %xmm0, 64(%rsp)\nmovaps %xmm1, 80(%rsp)\nmovaps %xmm2, 96(%rsp)\n"   \
          "movaps %xmm3, 112(%rsp)\nmovaps %xmm4, 128(%rsp)\nmovaps %xmm5, 144(%rsp)\n"\
          "movaps %xmm6, 160(%rsp)\nmovaps %xmm7, 176(%rsp)\n"                         \
          "mov 8(%rbp), %rdi\n"                                                         \
          "call jump_target_of_" #NAME "\n"                                              \
          "mov %rax, %r11\n"                                                            \
          "mov (%rsp), %rdi\nmov 8(%rsp), %rsi\nmov 16(%rsp), %rdx\n"                  \
          "mov 24(%rsp), %rcx\nmov 32(%rsp), %r8\nmov 40(%rsp), %r9\n"                 \
          "mov 48(%rsp), %rax\nmov 56(%rsp), %r10\n"                                   \
          "movaps 64(%rsp), %xmm0\nmovaps 80(%rsp), %xmm1\nmovaps 96(%rsp), %xmm2\n"   \
          "movaps 112(%rsp), %xmm3\nmovaps 128(%rsp), %xmm4\nmovaps 144(%rsp), %xmm5\n"\
          "movaps 160(%rsp), %xmm6\nmovaps 176(%rsp), %xmm7\n"                         \
          "leave\n.cfi_def_cfa %rsp, 8\n"                                              \
          "jmp *%r11\n"                                                                 \
          ".cfi_endproc\n"                                                              \
          ".size " #NAME ", . - " #NAME "\n"                                            \
          ".popsection\n")
/* clang-format on */

#endif
