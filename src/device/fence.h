// A point in a stream for which the host waits by looking at its own memory: the device writes a
// number there. An event (device/stream.h) costs a stream of copies 1.5 microseconds more of the
// link's time, and to ask for one takes the driver's lock, which the next copy needs.
//
//   Fence fence = …Fence::create(device, word);   // a word of pinned memory
//   fence.record(stream);                         // behind what is on the stream
//   Status done = fence.wait(look_until);
//
// Where the device cannot write there a fence is an event. Used by one thread at a time. Between
// record() and the end of wait() the stream must stay; until the work is done, the word.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "device/pinned_pool.h"
#include "device/stream.h"

namespace hoist::device {

class Fence {
 public:
  // Null: an event.
  static Result<Fence> create(Device& device, uint32_t* word);

  Status record(Stream& stream);
  // Whether the work before the last record() is done. Does not notice that the device was lost, as
  // wait() does.
  Result<bool> poll() const;
  // Returns when the work before the last record() is done, or with an error when the device was
  // lost. Until `look_until`, but 10 milliseconds at most, without sleeping.
  Status wait(std::chrono::steady_clock::time_point look_until);
  // The same, but returns false when `interrupted`, which is asked again and again, is true.
  Result<bool> wait_unless(std::chrono::steady_clock::time_point look_until,
                           const std::function<bool()>& interrupted);

 private:
  Fence(Event event, uint32_t* word);
  bool is_reached() const;
  Result<bool> wait_for_word(std::chrono::steady_clock::time_point look_until,
                             const std::function<bool()>& interrupted);
  Result<bool> wait_for_event(std::chrono::steady_clock::time_point look_until,
                              const std::function<bool()>& interrupted) const;

  Event event_;
  uint32_t* word_;
  uint32_t number_;  // that the last record() has the device write
  const Stream* stream_ = nullptr;
};

// Some fences of one user, and the memory of their words.
struct Fences {
  PinnedBlock words;
  std::vector<Fence> list;

  // Each word has a line of its own: the device writes one while a thread looks at another.
  static Result<Fences> create(PinnedPool& pool, size_t count);
};

}  // namespace hoist::device
