#include "intercept/deflate_streams.h"

#include <stddef.h>
#include <stdint.h>

#include "intercept/rarely_touched.h"

/* A hash table of buckets. States lie at least so many bytes apart. */
enum { kBuckets = 512, kBucketSize = 8, kStateSize = 4096 };

static struct deflate_stream streams[kBuckets][kBucketSize] RARELY_TOUCHED;

static struct deflate_stream* bucket_of(const void* state) {
  return streams[(uintptr_t)state / kStateSize % kBuckets];
}

struct deflate_stream* find_deflate_stream(const void* state) {
  struct deflate_stream* bucket = bucket_of(state);
  for (size_t i = 0; i < kBucketSize && state != NULL; ++i) {
    if (__atomic_load_n(&bucket[i].state, __ATOMIC_ACQUIRE) == state) return &bucket[i];
  }
  return NULL;
}

struct deflate_stream* add_deflate_stream(const void* state) {
  struct deflate_stream* known = find_deflate_stream(state);
  struct deflate_stream* bucket = bucket_of(state);
  for (size_t i = 0; i < kBucketSize && known == NULL; ++i) {
    const void* none = NULL;
    if (__atomic_compare_exchange_n(&bucket[i].state, &none, state, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      known = &bucket[i];
    }
  }
  return known;
}

void remove_deflate_stream(const void* state) {
  struct deflate_stream* known = find_deflate_stream(state);
  if (known != NULL) __atomic_store_n(&known->state, NULL, __ATOMIC_RELEASE);
}
