#include "base/limits.h"

#include <sys/resource.h>

bool hoist_limit_is_below(int resource, uint64_t least) {
  struct rlimit limit;
  return getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_cur < least;
}

bool hoist_has_no_room(void) {
  const uint64_t kEnough = (uint64_t)8 << 30;
  return hoist_limit_is_below(RLIMIT_AS, kEnough) || hoist_limit_is_below(RLIMIT_DATA, kEnough);
}
