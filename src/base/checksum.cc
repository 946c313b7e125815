#include "base/checksum.h"

#define XXH_STATIC_LINKING_ONLY  // the state's size
#include <xxhash.h>

#include "base/checksum_avx2.h"
#include "base/cpu.h"

namespace hoist {
namespace {

static_assert(sizeof(XXH3_state_t) == sizeof(Xxh3) && alignof(XXH3_state_t) <= alignof(Xxh3));

XXH3_state_t* as_state(unsigned char* state) { return reinterpret_cast<XXH3_state_t*>(state); }

bool use_avx2() {
#if defined(__x86_64__)
  static const bool supported = cpu_features().avx2;
  return supported;
#else
  return false;
#endif
}

}  // namespace

uint64_t xxh3_64(const void* data, size_t size) {
  constexpr size_t kShort = 240;  // up to here the library uses no vectors
  if (size > kShort && use_avx2()) return checksum_detail::xxh3_64_avx2(data, size);
  return XXH3_64bits(data, size);
}

uint64_t xxh3_64(const void* data, size_t size, uint64_t seed) {
  return XXH3_64bits_withSeed(data, size, seed);
}

Xxh3::Xxh3() { XXH3_64bits_reset(as_state(state_)); }

void Xxh3::update(const void* data, size_t size) {
  if (use_avx2()) {
    checksum_detail::xxh3_update_avx2(state_, data, size);
  } else {
    XXH3_64bits_update(as_state(state_), data, size);
  }
}

uint64_t Xxh3::finish() const {
  return XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_));
}

}  // namespace hoist
