#include "base/gpu_hint.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool hoist_gpus_are_hidden(void) {
  const char* visible = getenv("CUDA_VISIBLE_DEVICES");
  const char* gpu = getenv("HOIST_GPU");
  if (visible == NULL || (gpu != NULL && strcasecmp(gpu, "require") == 0)) return false;
  return visible[0] == '\0' || visible[0] == '-' || strcmp(visible, "NoDevFiles") == 0;
}

bool hoist_gpu_may_serve(void) {
  const char* gpu = getenv("HOIST_GPU");
  const char* socket = getenv("HOIST_SOCKET");
  if (gpu != NULL && strcasecmp(gpu, "off") == 0) return false;
  if (gpu != NULL && (strcasecmp(gpu, "require") == 0 || strcasecmp(gpu, "inprocess") == 0)) {
    return true;
  }
  if (hoist_gpus_are_hidden()) return false;
  if (socket != NULL && socket[0] != '\0') return true;
  return access("/dev/nvidiactl", F_OK) == 0;
}
