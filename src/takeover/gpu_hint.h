/* Whether a GPU may do a program's work: asked at every start of one, so without the driver. */
#ifndef HOIST_TAKEOVER_GPU_HINT_H
#define HOIST_TAKEOVER_GPU_HINT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* False under HOIST_GPU=off, where GPUs are hidden, and where there is neither an NVIDIA driver's
 * device file nor a daemon or a GPU that the user asks for (HOIST_SOCKET). HOIST_GPU=require and
 * inprocess ask for one in any case. True promises nothing. */
bool hoist_gpu_may_serve(void);

/* Whether CUDA_VISIBLE_DEVICES names no device: who starts a program so wants no GPU for it, a
 * daemon's neither, unless HOIST_GPU=require asks for one. */
bool hoist_gpus_are_hidden(void);

#ifdef __cplusplus
}
#endif

#endif
