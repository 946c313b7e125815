// One lane of one client: takes its requests in order, has them checked and done, answers them.
//
//   drain ─▶ check ─▶ onto the stream ─▶ next request of the batch …
//                                      └▶ wait for its event ─▶ answer
//
// Runs on a thread of its own and never waits for the client.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "daemon/buffers.h"
#include "daemon/check.h"
#include "daemon/statistics.h"
#include "device/remote/ring.h"
#include "device/stream.h"

namespace hoist::daemon {

// How a lane ends: it finishes what was submitted, or leaves it.
struct Ending {
  std::atomic<bool> begun = false;
  std::atomic<bool> abandon = false;
};

class Lane {
 public:
  struct Context {
    device::Device& device;
    BufferTable& buffers;
    std::span<std::byte> pool;
    Statistics& statistics;
    const Ending& ending;
    // Requests that all lanes of the session have answered. A client orders work of two lanes by
    // what it sees of the first in memory that they share with it; this orders it for us.
    std::atomic<uint64_t>& answered;
    bool on_stream;  // else the device works on the lane's own thread
  };

  static Result<Lane> create(const Context& context, hoist_ring_lane* shared);

  // Until the ending begins. `corrupt`: the client broke the ring; `unavailable`: the device is
  // lost.
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
    Status status;
  };

  Lane(const Context& context, hoist_ring_lane* shared) : context_(context), receiver_(shared) {}

  Status serve_batch(std::span<const hoist_request> batch);
  Work begin(const hoist_request& request);
  Status begin_operation(const hoist_request& request, Work& work);
  void count(const Work& work, uint64_t duration);
  void finish(Work& work);
  device::StreamHandle stream() const;

  Context context_;
  device::remote::Receiver receiver_;
  std::optional<device::Stream> stream_;
  std::vector<device::Event> events_;  // one for each place in a batch; none without a stream
};

}  // namespace hoist::daemon
