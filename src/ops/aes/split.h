// Splitting one call over the cores: when it may be done, into what, and the doing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "ops/aes/default_provider.h"
#include "ops/aes/lanes.h"

namespace hoist::aes {

// Held by every call that is large enough to be split, split or not. While one thread has a large
// call under way, those of others stay whole: a program that encrypts on many threads keeps its
// cores busy by itself. A thread has one at a time; one that was left by siglongjmp() ends with the
// thread's next.
class LargeCall {
 public:
  explicit LargeCall(bool on_busy_cores);
  ~LargeCall();
  LargeCall(const LargeCall&) = delete;
  LargeCall& operator=(const LargeCall&) = delete;

  // How many threads it may use, the caller's among them; 0: we are switched off.
  size_t lanes() const { return lanes_; }
  // Null: the call may be split. Else why not.
  const char* obstacle() const { return obstacle_; }

 private:
  const char* obstacle_;
  size_t lanes_;
};

// How many threads a call may use, its own among them.
size_t usable_lanes();

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

// Chunks are multiples of `granularity`; each lane gets at least `lane_bytes`.
Split plan_split(size_t bytes, size_t granularity, size_t lane_bytes);

// Calls body(lane, chunk), which must not throw, once for each chunk. Calls of one lane follow one
// another.
template <typename Body>
void for_each_chunk(const Split& split, Body&& body) {
  std::atomic<size_t> next = 0;
  for_each_lane(split.lanes, [&](size_t lane) {
    for (size_t i = next++; i < split.chunks; i = next++) body(lane, i);
  });
}

// One copy of a context for each lane, made before any byte is touched. Fewer, where memory is
// short: the split's lanes are lowered to their number.
using LaneCiphers = std::array<Cipher, kMaxLanes>;
void duplicate_for_lanes(const Cipher& original, Split& split, LaneCiphers& lanes);

}  // namespace hoist::aes
