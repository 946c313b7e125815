#include "intercept/inflate_notes.h"

#include <stddef.h>
#include <stdint.h>

#include "intercept/rarely_touched.h"

/* A hash table of buckets. States lie at least so many bytes apart. */
enum { kBuckets = 512, kBucketSize = 8, kStateSize = 4096 };

struct note {
  const void* state; /* null: free */
  const void* owner;
  int window_bits;
};

static struct note notes[kBuckets][kBucketSize] RARELY_TOUCHED;
static bool any;

bool any_inflate_notes(void) { return __atomic_load_n(&any, __ATOMIC_RELAXED); }

static struct note* find_note(const void* state) {
  if (state == NULL) return NULL;
  struct note* bucket = notes[(uintptr_t)state / kStateSize % kBuckets];
  for (size_t i = 0; i < kBucketSize; ++i) {
    if (__atomic_load_n(&bucket[i].state, __ATOMIC_ACQUIRE) == state) return &bucket[i];
  }
  return NULL;
}

static struct note* make_note(const void* state) {
  struct note* bucket = notes[(uintptr_t)state / kStateSize % kBuckets];
  for (size_t i = 0; i < kBucketSize; ++i) {
    const void* none = NULL;
    if (__atomic_compare_exchange_n(&bucket[i].state, &none, state, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      return &bucket[i];
    }
  }
  return NULL;
}

void note_inflate_state(const void* state, const void* owner, int window_bits) {
  if (state == NULL) return;
  struct note* note = find_note(state);
  if (note == NULL) note = make_note(state);
  if (note == NULL) return;
  note->owner = owner;
  note->window_bits = window_bits;
  __atomic_store_n(&any, true, __ATOMIC_RELAXED);
}

void renote_inflate_state(const void* state, const void* owner, int window_bits) {
  struct note* note = find_note(state);
  if (note != NULL && note->owner == owner) note->window_bits = window_bits;
}

bool take_inflate_note(const void* state, const void* owner, int* window_bits) {
  struct note* note = find_note(state);
  if (note == NULL) return false;
  const bool is_same = note->owner == owner;
  *window_bits = note->window_bits;
  __atomic_store_n(&note->state, NULL, __ATOMIC_RELEASE);
  return is_same;
}
