// The two ends of a queue (device/remote/ring_layout.h). Each keeps its own positions and believes
// the shared memory nothing: a queue that shows something impossible is `corrupt`, and its session
// is over.
//
// Neither class locks: one thread at a time uses a Submitter, one a Receiver.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "device/remote/ring_layout.h"

namespace hoist::device::remote {

// The client's end.
class Submitter {
 public:
  explicit Submitter(hoist_ring_queue* queue) : queue_(queue) {}

  bool full() const { return submitted_ - reaped_ == HOIST_RING_ENTRIES; }
  uint64_t submitted() const { return submitted_; }
  uint64_t reaped() const { return reaped_; }

  // Hands the request over and gives its sequence. Not to be called on a full queue.
  uint64_t submit(const hoist_request& request);

  // The completion of the oldest request that is not reaped, if it is there; its entry is free
  // afterwards. Completions come in the order of submission.
  bool reap(hoist_completion& completion);

  // Sleeps until the request may be done, at most until `deadline_ns`; may return early. Unlike
  // the other members, for any thread at any time.
  static void wait(hoist_ring_queue* queue, uint64_t sequence, uint64_t deadline_ns);
  // What the queue says about a request that was submitted and not reaped.
  enum class Progress { pending, done, corrupt };
  static Progress progress(const hoist_ring_queue* queue, uint64_t sequence);

 private:
  hoist_ring_queue* queue_;
  uint64_t submitted_ = 0;
  uint64_t reaped_ = 0;
};

// The daemon's end.
class Receiver {
 public:
  explicit Receiver(hoist_ring_queue* queue) : queue_(queue) {}

  // Copies the requests that were submitted since the last call, oldest first, at most
  // `into.size()`; each is read from the shared memory once. Gives their number. `corrupt` where
  // the client filled more entries than it has, or an entry is not what the ring says it is.
  Result<size_t> drain(std::span<hoist_request> into);

  // Whether drain() would give any.
  bool has_more() const;

  // Answers the oldest request that drain() gave and that is not answered.
  void complete(uint32_t status, uint64_t result, uint64_t device_ns);

  // Sleeps until there may be something to drain; returns at once where there is or where `stop`
  // is set. Set `stop`, then call wake() until the thread has gone: a client that scribbles over
  // the doorbell can swallow one wake-up.
  void wait(const std::atomic<bool>& stop) const;
  static void wake(hoist_ring_queue* queue);

 private:
  hoist_ring_queue* queue_;
  uint64_t drained_ = 0;
  uint64_t completed_ = 0;
};

}  // namespace hoist::device::remote
