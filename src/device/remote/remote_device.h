// A GPU that hoistd owns, as a Device: for programs that must not open the GPU themselves.
//
//   Result<std::shared_ptr<RemoteDevice>> device = RemoteDevice::shared();
//   if (!device) …                                             // do it on the CPU
//   Result<Stream> stream = Stream::create(**device);
//   Result<Buffer> buffer = Buffer::allocate(*stream, size);
//   Status done = stream->copy(buffer->data(), host, size);
//   if (done) done = (*device)->run_served(stream->handle(), number, {{buffer->data(), size}}, {n},
//   {}); if (done) done = stream->synchronize();
//
// As device/device.h says, with these differences:
// - A device address (Buffer::data()) means something to this device only; to read it is a fault.
//   New buffers hold zeros.
// - Every failure of the daemon is `unavailable` (device/remote/connection.h says when): no call
//   waits longer than ConnectOptions::patience. What is in host memory that a copy was to write is
//   undefined then.
// - Host memory of the shared pool (allocate_pinned()) is copied without staging and
// asynchronously.
//   Where a copy from or to it was not answered, free it without using it again: the device may
//   still write there. Other host memory goes through the pool, as fast as a memcpy() more allows,
//   and cannot be pinned.
// - Streams share the connection's queues; what is in one queue is done in order of submission. A
//   stream that has nothing outstanding takes the queue for its next work: one for uploads, one for
//   downloads, the others for the rest, so that these go on at once. (With one queue or two streams
//   take turns at them, whatever they do.) A stream that waits for another's event, or calls a
//   function, waits on the calling thread. A full queue makes the caller wait for its oldest
//   request.
// - In a child after fork() everything answers `unavailable`; shared() connects anew there.
// - It must outlive its streams, events and buffers: keep the pointer with them.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "device/remote/connection.h"

namespace hoist::device::remote {

class RemoteDevice : public Device {
 public:
  // This process's own, connected by the first call with default options. After a death, or where
  // there was none, it tries again, at most once a second; others do not wait for who tries.
  static Result<std::shared_ptr<RemoteDevice>> shared();
  static Result<std::shared_ptr<RemoteDevice>> connect(const ConnectOptions& options);
  ~RemoteDevice() override;

  Connection& connection() { return *connection_; }
  // Whether the daemon has a GPU; else it computes on the CPU, which the program can do itself.
  bool is_gpu() const { return connection_->welcome().device_kind == 1; }

  // At most HOIST_RING_MAX_RANGES and _ARGUMENTS. `work`: see Connection::submit().
  Status run_served(StreamHandle stream, uint32_t operation, std::initializer_list<Range> memory,
                    std::initializer_list<uint64_t> arguments,
                    std::chrono::nanoseconds work) override;

  Status status() const override { return connection_->status(); }
  bool can_access(const Device& peer) const override { return &peer == this; }
  Status allow_access(const Device& peer) override;

  Result<StreamHandle> create_stream() override;
  void destroy(StreamHandle stream) override;
  Status synchronize(StreamHandle stream) override;
  Status call(StreamHandle stream, std::function<void()> function) override;

  Result<EventHandle> create_event() override;
  void destroy(EventHandle event) override;
  Status record(EventHandle event, StreamHandle stream) override;
  Status wait(StreamHandle stream, EventHandle event) override;
  Result<bool> is_done(EventHandle event) override;
  Status synchronize(EventHandle event) override;

  Result<void*> allocate(size_t size, StreamHandle stream) override;
  void free(void* data, StreamHandle stream) override;
  Status copy(void* to, const void* from, size_t size, StreamHandle stream) override;
  Status fill(void* data, std::byte value, size_t size, StreamHandle stream) override;

  Result<void*> allocate_pinned(size_t size) override { return connection_->allocate(size); }
  // May be called while a request that names the memory is not answered.
  Status free_pinned(void* data, size_t size) override;
  Status pin(void* data, size_t size) override;
  Status unpin(void* data) override;
  bool is_pinned(const void* data, size_t size) const override {
    return connection_->pool_offset(data, size).has_value();
  }

 private:
  class Outstanding;
  struct Point;
  struct Allocation {
    uint64_t buffer;
    uint64_t size;
  };

  explicit RemoteDevice(std::shared_ptr<Connection> connection);
  Result<hoist_range> range_of(const void* data, uint64_t size) const;
  uint32_t queue_for(const hoist_request& request, uint32_t stream) const;
  Result<Ticket> submit(uint32_t queue, const hoist_request& request,
                        std::chrono::nanoseconds work = {});
  Result<Ticket> submit_on(StreamHandle stream, const hoist_request& request,
                           std::chrono::nanoseconds work = {});
  void free_late_ones();
  Result<hoist_completion> submit_and_wait(StreamHandle stream, const hoist_request& request,
                                           std::chrono::nanoseconds work = {});
  Status enqueue(StreamHandle stream, const hoist_request& request,
                 std::chrono::nanoseconds work = {});
  Status copy_ranges(const hoist_range& from, const hoist_range& to, StreamHandle stream);
  Result<void*> staging(uint64_t size, Outstanding& outstanding);
  Status upload(const hoist_range& to, const std::byte* from, StreamHandle stream);
  Status download(std::byte* to, const hoist_range& from, StreamHandle stream);

  const std::shared_ptr<Connection> connection_;
  std::atomic<uint32_t> streams_ = 0;  // that were made
  mutable std::mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;  // by device address
  uint64_t next_address_;
  std::vector<Ticket> late_;  // allocations whose answer was not there in time
  std::vector<uint64_t> unsent_frees_;
};

}  // namespace hoist::device::remote
