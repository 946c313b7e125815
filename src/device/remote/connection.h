// A program's connection to hoistd: requests into the queues, answers out of them.
//
//   Result<std::shared_ptr<Connection>> hoistd = Connection::open({});
//   hoist_request request = {};
//   request.operation = HOIST_REQUEST_NONE;
//   Result<Ticket> ticket = (*hoistd)->submit(0, request);
//   Result<hoist_completion> answer = (*hoistd)->wait(*ticket);
//
// Nothing here waits for ever, throws, raises a signal or writes to a stream. `unavailable` is the
// one answer to all that can happen to a daemon, and means: do the work without it. It is
//   - stopped (SIGSTOP, overloaded): no answer within the patience. Until the late one is there,
//   all
//     further requests are refused at once, and its part of the pool is not used again;
//   - dead (kill, crash, driver gone), or it ended this session: noticed within 20 ms by whoever
//     waits. The pool is never used again: a device that still writes does so into memory that
//     means nothing any more;
//   - full: no entry of the queue is free;
//   - somebody else's: after fork(), in the child.
// A pool of which no range is free is `exhausted`.
//
// Thread-safe. Work in one queue is done in order; queues run at the same time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fork.h"
#include "base/result.h"
#include "device/remote/pool.h"
#include "device/remote/ring.h"
#include "device/remote/shared_memory.h"

namespace hoist::device::remote {

struct ConnectOptions {
  std::string path;  // empty: socket_paths()
  // Where the daemon takes no pool of this size, it is one of the size that it offers, if that is
  // of any use.
  uint64_t pool_size = uint64_t{256} << 20;
  // One for uploads, one for downloads, the others for the rest (device/remote/remote_device.h).
  uint32_t queues = HOIST_RING_MAX_QUEUES;
  std::chrono::milliseconds handshake{2000};
  // For one request, its turn in the queue included; the time that work on the device may take,
  // where who submits it says so, comes on top.
  std::chrono::milliseconds patience{10'000};
};

// A request on its way. Copies are the same ticket; dropping it does not call the request back.
class Ticket {
 public:
  uint64_t sequence() const { return sequence_; }

 private:
  friend class Connection;
  struct Pending;
  uint32_t queue_ = 0;
  uint64_t sequence_ = 0;
  std::shared_ptr<Pending> pending_;
};

class Connection {
 public:
  // `unavailable` or `not_found` without a daemon; `unsupported` where the versions do not meet.
  // A daemon that is neither root's nor this user's is refused: it would see our data.
  static Result<std::shared_ptr<Connection>> open(const ConnectOptions& options);
  // Whether the daemon at `path`, as in ConnectOptions, answers a question in time: one that is
  // stopped would cost open() the handshake's patience. Errors as those of open().
  static Status ask(const std::string& path, std::chrono::milliseconds patience);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Whether a request would be taken now. Cheap.
  Status status();
  // `unavailable` in a child after fork(). Without a lock.
  Status check_process() const;
  // Whether it is gone for good.
  bool lost() const { return lost_.load(std::memory_order_acquire); }

  uint32_t queues() const { return memory_.queues(); }
  // What the daemon said of its device and of itself (HOIST_MESSAGE_WELCOME).
  const hoist_message& welcome() const { return welcome_; }

  // Memory of the pool: what requests copy from and to. Nothing is zeroed.
  Result<void*> allocate(uint64_t size);
  void free(void* memory);
  // Where in the pool; nothing where [data, data + size) is not in it.
  std::optional<uint64_t> pool_offset(const void* data, uint64_t size) const;
  uint64_t pool_used() const { return pool_.used(); }

  // Hands a request over, numbered and with the patience as its deadline (a FREE has none: it must
  // be done some time). Ranges of buffer 0 must lie in blocks of allocate(), which live on until
  // the answer even where they are freed before. `work`: what the slowest device needs for it.
  Result<Ticket> submit(uint32_t queue, const hoist_request& request,
                        std::chrono::nanoseconds work = {});
  // Waits for the answer. A request that failed in the daemon gives an Error of the matching code.
  Result<hoist_completion> wait(const Ticket& ticket);
  // What it fails with where the answer does not come in time.
  static Error overdue();
  Result<bool> is_done(const Ticket& ticket);
  // The last request of a queue, to wait for all before it; null sequence: none yet.
  Ticket last(uint32_t queue);
  // Waits until the queue has room.
  Status wait_for_room(uint32_t queue);
  // Waits until some request of whoever's has been answered, whose memory of the pool is free then.
  // False where there is none, or it does not come.
  bool wait_for_any();

 private:
  struct Queue;
  struct Attempt;
  static Result<Attempt> attempt(const ConnectOptions& options, uint64_t pool_size);
  Connection(Attempt attempt, const ConnectOptions& options);

  Status check_alive();
  Status check_socket();
  Status check_patience();
  Status lose(Error why);
  void reap(Queue& queue);
  bool is_pending(const Ticket& ticket) const;
  Ticket oldest_of(uint32_t queue) const;
  uint64_t patience_ends(uint64_t now) const;

  SharedMemory memory_;
  UniqueFd socket_;
  PoolAllocator pool_;
  std::vector<std::unique_ptr<Queue>> queues_;
  const OwnerProcess process_;
  const uint64_t patience_ns_;
  const hoist_message welcome_;

  // How often a request's patience ran out, and how many of these had late answers since.
  std::atomic<uint64_t> overdue_ = 0;
  std::atomic<uint64_t> settled_ = 0;
  std::mutex lost_mutex_;
  std::atomic<bool> lost_ = false;
  Error why_lost_;
};

// hoist_ring_status as an Error, and back.
Status status_of(uint32_t status);
uint32_t status_number(ErrorCode code);

}  // namespace hoist::device::remote
