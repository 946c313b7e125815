/* HOIST_GPU: what the user says about GPUs. In C, for the preload library. */
#ifndef HOIST_BASE_GPU_USE_H
#define HOIST_BASE_GPU_USE_H

#include <stddef.h>
#include <strings.h>

enum hoist_gpu_use {
  HOIST_GPU_AUTO,      /* where it is ahead; hoistd's, if one answers */
  HOIST_GPU_OFF,       /* none */
  HOIST_GPU_REQUIRE,   /* in any case where there is one */
  HOIST_GPU_INPROCESS, /* a context of the program's own, not hoistd's */
  HOIST_GPU_UNKNOWN    /* another word */
};

static inline enum hoist_gpu_use hoist_read_gpu_use(const char* text) {
  static const char* const kWords[] = {"auto", "off", "require", "inprocess"};
  for (int i = 0; i < HOIST_GPU_UNKNOWN; ++i) {
    if (strcasecmp(text, kWords[i]) == 0) return (enum hoist_gpu_use)i;
  }
  return HOIST_GPU_UNKNOWN;
}

/* As it counts: `text` is the variable's value, null where it is not set. */
static inline enum hoist_gpu_use hoist_gpu_use_of(const char* text) {
  const enum hoist_gpu_use use = text == NULL ? HOIST_GPU_AUTO : hoist_read_gpu_use(text);
  return use == HOIST_GPU_UNKNOWN ? HOIST_GPU_AUTO : use;
}

#endif
