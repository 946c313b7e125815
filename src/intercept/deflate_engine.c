#include "intercept/deflate_engine.h"

#include <zlib.h>

#include "intercept/engine_library.h"
#include "intercept/preload.h"
#include "intercept/stack_room.h"

enum { kEnoughStack = 256 << 10 };

static struct engine_library engine = {.operation = "deflate", .function = "hoist_deflate"};

bool deflate_is_requested(void) {
  static int state; /* 0: not asked yet, 1: no, 2: yes */
  int known = __atomic_load_n(&state, __ATOMIC_RELAXED);
  if (known == 0) {
    known = not_requested(engine.operation) == NULL ? 2 : 1;
    __atomic_store_n(&state, known, __ATOMIC_RELAXED);
  }
  return known == 2;
}

bool is_deflate_level(int level) {
  return level == Z_DEFAULT_COMPRESSION || (level >= Z_BEST_SPEED && level <= Z_BEST_COMPRESSION);
}

int deflate_level_number(int level) {
  enum { kDefaultLevel = 6 };
  return level == Z_DEFAULT_COMPRESSION ? kDefaultLevel : level;
}

bool run_deflate_engine(const struct hoist_deflate_call* call,
                        struct hoist_deflate_result* result) {
  hoist_deflate_function* compress = (hoist_deflate_function*)engine_function(&engine);
  return compress != NULL && stack_room() >= kEnoughStack && compress(call, result);
}

void count_unrequested_deflate(void) { (void)engine_function(&engine); }

/* A call that was left by longjmp() leaves its note behind, which says nothing about other inputs.
 */
static __thread __attribute__((tls_model("initial-exec"))) struct {
  const void* in;
  size_t size;
} declined;

void note_declined_input(const void* in, size_t size) {
  declined.in = in;
  declined.size = size;
}

bool is_declined_input(const void* in, size_t size) {
  return declined.in != NULL && declined.in == in && declined.size == size;
}
