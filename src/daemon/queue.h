// One queue of one client: takes its requests in order, has them checked and done, answers them.
//
//   drain ─▶ check ─▶ onto the stream ─▶ next request, as long as there is one and room …
//                                      └▶ wait for the oldest's fence ─▶ answer
//
// Runs on a thread of its own and never waits for the client. While it waits for the device it
// takes what comes meanwhile, so that the stream does not run dry.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "daemon/buffers.h"
#include "daemon/check.h"
#include "daemon/statistics.h"
#include "device/fence.h"
#include "device/pinned_pool.h"
#include "device/remote/ring.h"
#include "device/stream.h"

namespace hoist::daemon {

// How a queue ends: it finishes what was submitted, or leaves it.
struct Ending {
  std::atomic<bool> begun = false;
  std::atomic<bool> abandon = false;
};

class Queue {
 public:
  struct Context {
    device::Device& device;
    BufferTable& buffers;
    std::span<std::byte> pool;
    Statistics& statistics;
    const Ending& ending;
    // Requests that all queues of the session have answered. A client orders work of two queues by
    // what it sees of the first in memory that they share with it; this orders it for us.
    std::atomic<uint64_t>& answered;
    bool on_stream;              // else the device works on the queue's own thread
    device::PinnedPool& pinned;  // for fences
  };

  static Result<Queue> create(const Context& context, hoist_ring_queue* shared);

  // Until the ending begins and what was begun is done. `corrupt`: the client broke the ring;
  // `unavailable`: the device is lost.
  Status serve();

 private:
  // A request that is on its way through the device.
  struct Work {
    CheckedRequest checked;  // holds the buffers until it is done
    uint32_t operation = 0;
    uint64_t deadline_ns = 0;
    uint64_t started_ns = 0;
    uint64_t bytes = 0;
    uint64_t result = 0;
    std::shared_ptr<device::Buffer> made;  // without a number yet
    Status status;
  };

  Queue(const Context& context, hoist_ring_queue* shared) : context_(context), receiver_(shared) {}

  Status take_and_answer();
  void wait_for_more();
  void begin(const hoist_request& request);
  Status answer_oldest_or_take();
  void answer_oldest(Status waited);
  Work begin_work(const hoist_request& request);
  Status begin_operation(const hoist_request& request, Work& work);
  Result<std::shared_ptr<device::Buffer>> allocate(uint64_t size);
  void count(const Work& work, uint64_t duration);
  void finish(Work work);
  device::StreamHandle stream() const;

  Context context_;
  device::remote::Receiver receiver_;
  std::optional<device::Stream> stream_;
  device::PinnedBlock words_;  // of the fences
  // On the stream, in a ring that begins with the oldest.
  struct InFlight {
    device::Fence fence;
    Work work;
  };
  std::vector<InFlight> ring_;
  size_t oldest_ = 0;
  size_t in_flight_ = 0;
};

}  // namespace hoist::daemon
