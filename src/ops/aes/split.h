// Splitting one call over the cores: when it may be done, into what, and the doing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ops/aes/default_provider.h"

namespace hoist::aes {

// Held by every call that is large enough to be split, split or not. While one thread has a large
// call under way, those of others stay whole: a program that encrypts on many threads keeps its
// cores busy by itself.
class LargeCall {
 public:
  explicit LargeCall(bool on_busy_cores);
  ~LargeCall();
  LargeCall(const LargeCall&) = delete;
  LargeCall& operator=(const LargeCall&) = delete;

  // Null: the call may be split. Else why not.
  const char* obstacle() const { return obstacle_; }

 private:
  const char* obstacle_;
};

// How many threads a call may use, its own among them.
size_t usable_lanes();

constexpr size_t kMaxLanes = 64;
constexpr size_t kMaxChunks = 256;

// `chunks` pieces of `chunk` bytes each, the last one smaller or equal; `lanes` threads at most.
struct Split {
  size_t bytes = 0;
  size_t chunk = 0;
  size_t chunks = 0;
  size_t lanes = 0;

  size_t size_of(size_t index) const {
    return index + 1 < chunks ? chunk : bytes - chunk * (chunks - 1);
  }
};

// Chunks are multiples of `granularity`; a lane beyond the second gets at least half of
// `threshold`.
Split plan_split(size_t bytes, size_t granularity, size_t threshold);

// Calls call(context, lane, chunk) once for each chunk. Calls of one lane follow one another.
void run_split(const Split& split, void (*call)(void* context, size_t lane, size_t chunk),
               void* context);

// The same with body(lane, chunk), which must not throw.
template <typename Body>
void for_each_chunk(const Split& split, Body&& body) {
  run_split(
      split,
      [](void* erased, size_t lane, size_t chunk) {
        (*static_cast<std::remove_reference_t<Body>*>(erased))(lane, chunk);
      },
      &body);
}

// One copy of a context for each lane, made before any byte is touched. Fewer, where memory is
// short: the split's lanes are lowered to their number.
using LaneCiphers = std::array<Cipher, kMaxLanes>;
void duplicate_for_lanes(const Cipher& original, Split& split, LaneCiphers& lanes);

// Whether both ranges share a byte.
bool overlap(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size);

// Touches every page, so that a fault in the caller's memory is taken here, on the caller's thread:
// programs handle them (garbage collectors, files mapped and cut off meanwhile).
void touch_pages(const uint8_t* in, uint8_t* out, size_t size);

}  // namespace hoist::aes
