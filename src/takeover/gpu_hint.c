#include "takeover/gpu_hint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/gpu_use.h"

bool hoist_gpus_are_hidden(void) {
  const char* visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible == NULL || hoist_gpu_use_of(getenv("HOIST_GPU")) == HOIST_GPU_REQUIRE) return false;
  return visible[0] == '\0' || visible[0] == '-' || strcmp(visible, "NoDevFiles") == 0;
}

bool hoist_gpu_may_serve(void) {
  const enum hoist_gpu_use use = hoist_gpu_use_of(getenv("HOIST_GPU"));
  const char* socket = getenv("HOIST_SOCKET");
  if (use == HOIST_GPU_OFF) return false;
  if (use == HOIST_GPU_REQUIRE || use == HOIST_GPU_INPROCESS) return true;
  if (hoist_gpus_are_hidden()) return false;
  if (socket != NULL && socket[0] != '\0') return true;
  return access("/dev/nvidiactl", F_OK) == 0;
}
