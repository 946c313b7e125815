#include "device/remote/remote_device.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "device/remote/message.h"

namespace hoist::device::remote {
namespace {

// Device addresses begin in the half of the address space that no x86-64 program maps, so that
// reading through one faults wherever it is tried.
constexpr uint64_t kFirstAddress = uint64_t{1} << 63;
constexpr uint64_t kAddressAlignment = uint64_t{1} << 21;
// Staging: large enough for the round trip not to count, small enough for a copy to overlap the
// daemon's.
constexpr uint64_t kChunk = uint64_t{1} << 20;

DeviceProperties properties_of(const Connection& connection) {
  DeviceProperties properties;
  properties.kind = DeviceKind::remote;
  const hoist_message& welcome = connection.welcome();
  properties.name = text_of(welcome.name);
  properties.memory = welcome.device_memory;
  properties.compute_major = static_cast<int>(welcome.compute_major);
  properties.compute_minor = static_cast<int>(welcome.compute_minor);
  properties.multiprocessors = static_cast<int>(welcome.multiprocessors);
  return properties;
}

bool is_device_address(const void* data) {
  return reinterpret_cast<uintptr_t>(data) >= kFirstAddress;
}

hoist_request request_for(uint32_t operation) {
  hoist_request request = {};
  request.operation = operation;
  return request;
}

void add_range(hoist_request& request, const hoist_range& range) {
  request.ranges[request.range_count++] = range;
}

void add_argument(hoist_request& request, uint64_t argument) {
  request.arguments[request.argument_count++] = argument;
}

}  // namespace

// A stream: what was put into its queue, and the first thing that went wrong with it. A transfer's
// threads share one, so everything here may be called by several at once.
class RemoteDevice::Outstanding {
 public:
  explicit Outstanding(uint32_t stream_number = 0) : stream_number_(stream_number) {}
  // By which streams share the queues.
  uint32_t stream_number() const { return stream_number_; }

  // Submits and notes at once: tickets stand here in the order of the queue, so that what is last
  // here is done after everything else. `submit` puts a request into a queue: `best`, where nothing
  // is outstanding in another.
  template <typename Submit>
  Status put(uint32_t best, Submit submit) {
    const std::lock_guard lock(mutex_);
    if (outstanding_.empty()) queue_ = best;
    Result<Ticket> ticket = submit(queue_);
    if (!ticket) return ticket.error();
    outstanding_.push_back(std::move(*ticket));
    return {};
  }
  // Where it has something outstanding, behind which everything must go.
  std::optional<uint32_t> queue() const {
    const std::lock_guard lock(mutex_);
    return outstanding_.empty() ? std::nullopt : std::optional(queue_);
  }
  // The ticket that was put in last; done where nothing is outstanding.
  Ticket last() const {
    const std::lock_guard lock(mutex_);
    return outstanding_.empty() ? Ticket() : outstanding_.back();
  }
  Status take_failure() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failed_, Status{});
  }

  // What does not come in time stays outstanding, and the stream in its queue.
  enum class Waited { answered, nothing, gave_up };
  Waited wait_for_oldest(Connection& connection) {
    std::unique_lock lock(mutex_);
    if (outstanding_.empty()) return Waited::nothing;
    const uint64_t number = answered_;
    const Ticket oldest = outstanding_.front();
    lock.unlock();
    const Result<hoist_completion> answer = connection.wait(oldest);
    const bool may_come = !answer && !connection.is_done(oldest).value_or(true);
    lock.lock();
    if (number != answered_) return Waited::answered;  // another thread's wait was for the same
    // This tells every failure of what was given up.
    if (failed_ && !answer && number >= given_up_) failed_ = answer.error();
    if (may_come) {
      given_up_ = answered_ + outstanding_.size();
      return Waited::gave_up;
    }
    outstanding_.pop_front();
    ++answered_;
    return Waited::answered;
  }
  // Fails where it gave up; what failed otherwise is for take_failure().
  Status wait_for_all(Connection& connection) {
    while (true) {
      const Waited waited = wait_for_oldest(connection);
      if (waited == Waited::nothing) return {};
      if (waited == Waited::gave_up) return Connection::overdue();
    }
  }
  void drop_answered(Connection& connection) {
    while (is_oldest_done(connection)) wait_for_oldest(connection);
  }

 private:
  bool is_oldest_done(Connection& connection) const {
    std::unique_lock lock(mutex_);
    if (outstanding_.empty()) return false;
    const Ticket oldest = outstanding_.front();
    lock.unlock();
    const Result<bool> done = connection.is_done(oldest);
    return !done || *done;
  }

  const uint32_t stream_number_;
  mutable std::mutex mutex_;
  uint32_t queue_ = 0;
  std::deque<Ticket> outstanding_;
  uint64_t answered_ = 0;  // that were taken from the front
  uint64_t given_up_ = 0;  // so many from the beginning were waited for in vain
  Status failed_;
};

struct RemoteDevice::Point {
  Ticket ticket;
};

Result<std::shared_ptr<RemoteDevice>> RemoteDevice::connect(const ConnectOptions& options) {
  Result<std::shared_ptr<Connection>> connection = Connection::open(options);
  if (!connection) return connection.error();
  return std::shared_ptr<RemoteDevice>(new RemoteDevice(std::move(*connection)));
}

RemoteDevice::RemoteDevice(std::shared_ptr<Connection> connection)
    : Device(properties_of(*connection)),
      connection_(std::move(connection)),
      next_address_(kFirstAddress) {}

RemoteDevice::~RemoteDevice() = default;

Status RemoteDevice::allow_access(const Device& peer) {
  if (can_access(peer)) return {};
  return fail(ErrorCode::unsupported, "no other device's memory (hoistd's client)");
}

Result<StreamHandle> RemoteDevice::create_stream() {
  return StreamHandle{new Outstanding(streams_.fetch_add(1))};
}

void RemoteDevice::destroy(StreamHandle stream) {
  delete static_cast<Outstanding*>(stream.pointer);
}

Status RemoteDevice::synchronize(StreamHandle stream) {
  if (Status here = connection_->check_process(); !here) return here;
  auto* const outstanding = static_cast<Outstanding*>(stream.pointer);
  if (outstanding == nullptr) return {};
  Status waited = outstanding->wait_for_all(*connection_);
  Status failed = outstanding->take_failure();
  return waited ? failed : waited;
}

Status RemoteDevice::call(StreamHandle stream, std::function<void()> function) {
  if (Status here = connection_->check_process(); !here) return here;
  if (auto* const outstanding = static_cast<Outstanding*>(stream.pointer); outstanding != nullptr) {
    if (Status waited = outstanding->wait_for_all(*connection_); !waited) return waited;
  }
  function();
  return {};
}

Result<EventHandle> RemoteDevice::create_event() { return EventHandle{new Point}; }

void RemoteDevice::destroy(EventHandle event) { delete static_cast<Point*>(event.pointer); }

Status RemoteDevice::record(EventHandle event, StreamHandle stream) {
  if (Status here = connection_->check_process(); !here) return here;
  // Nobody knows what a dead daemon's device still does.
  if (connection_->lost()) return connection_->status();
  const auto* const outstanding = static_cast<Outstanding*>(stream.pointer);
  static_cast<Point*>(event.pointer)->ticket =
      outstanding == nullptr ? Ticket() : outstanding->last();
  return {};
}

Status RemoteDevice::wait(StreamHandle stream, EventHandle event) { return synchronize(event); }

Result<bool> RemoteDevice::is_done(EventHandle event) {
  return connection_->is_done(static_cast<Point*>(event.pointer)->ticket);
}

Status RemoteDevice::synchronize(EventHandle event) {
  const Result<hoist_completion> answer =
      connection_->wait(static_cast<Point*>(event.pointer)->ticket);
  // What went wrong in the work is for its stream to report.
  if (answer || answer.error().code != ErrorCode::unavailable) return {};
  return answer.error();
}

// Uploads, downloads and the rest do not wait for one another.
uint32_t RemoteDevice::queue_for(const hoist_request& request, uint32_t stream) const {
  constexpr uint32_t kCopying = 2;
  const uint32_t queues = connection_->queues();
  if (queues <= kCopying) return stream % queues;
  const bool is_copy = request.operation == HOIST_REQUEST_COPY;
  if (is_copy && request.ranges[0].buffer == 0) return 0;
  if (is_copy && request.ranges[1].buffer == 0) return 1;
  return kCopying + stream % (queues - kCopying);
}

// As Connection::submit(), but a full queue is waited for.
Result<Ticket> RemoteDevice::submit(uint32_t queue, const hoist_request& request,
                                    std::chrono::nanoseconds work) {
  while (true) {
    if (Status room = connection_->wait_for_room(queue); !room) {
      return room.error();
    }
    Result<Ticket> ticket = connection_->submit(queue, request, work);
    if (ticket || ticket.error().code != ErrorCode::unavailable || !connection_->status()) {
      return ticket;
    }  // else another thread was faster
  }
}

// In the stream's order, but it is not outstanding there.
Result<Ticket> RemoteDevice::submit_on(StreamHandle stream, const hoist_request& request,
                                       std::chrono::nanoseconds work) {
  Outstanding own;
  Outstanding& outstanding =
      stream.pointer != nullptr ? *static_cast<Outstanding*>(stream.pointer) : own;
  outstanding.drop_answered(*connection_);
  const uint32_t queue =
      outstanding.queue().value_or(queue_for(request, outstanding.stream_number()));
  return submit(queue, request, work);
}

Result<hoist_completion> RemoteDevice::submit_and_wait(StreamHandle stream,
                                                       const hoist_request& request,
                                                       std::chrono::nanoseconds work) {
  const Result<Ticket> ticket = submit_on(stream, request, work);
  if (!ticket) return ticket.error();
  return connection_->wait(*ticket);
}

Status RemoteDevice::enqueue(StreamHandle stream, const hoist_request& request,
                             std::chrono::nanoseconds work) {
  auto* const outstanding = static_cast<Outstanding*>(stream.pointer);
  if (outstanding == nullptr) {
    const Result<hoist_completion> answer = submit_and_wait(stream, request, work);
    if (!answer) return answer.error();
    return {};
  }
  outstanding->drop_answered(*connection_);
  return outstanding->put(queue_for(request, outstanding->stream_number()),
                          [&](uint32_t queue) { return submit(queue, request, work); });
}

Status RemoteDevice::run_served(StreamHandle stream, uint32_t operation,
                                std::initializer_list<Range> memory,
                                std::initializer_list<uint64_t> arguments,
                                std::chrono::nanoseconds work) {
  if (Status here = connection_->check_process(); !here) return here;
  if (memory.size() > HOIST_RING_MAX_RANGES || arguments.size() > HOIST_RING_MAX_ARGUMENTS) {
    return fail(ErrorCode::invalid_argument, "too many ranges or arguments (hoistd's client)");
  }
  hoist_request request = request_for(operation);
  for (const Range& part : memory) {
    const Result<hoist_range> range = range_of(part.data, part.size);
    if (!range) return range.error();
    add_range(request, *range);
  }
  for (const uint64_t argument : arguments) add_argument(request, argument);
  return enqueue(stream, request, work);
}

Result<void*> RemoteDevice::allocate(size_t size, StreamHandle stream) {
  if (Status here = connection_->check_process(); !here) return here.error();
  free_late_ones();
  hoist_request request = request_for(HOIST_REQUEST_ALLOCATE);
  add_argument(request, size);
  const Result<Ticket> ticket = submit_on(stream, request);
  if (!ticket) return ticket.error();
  const Result<hoist_completion> answer = connection_->wait(*ticket);
  const std::lock_guard lock(mutex_);
  if (!answer) {
    // It may come yet, or have come by now.
    if (answer.error().code == ErrorCode::unavailable) late_.push_back(*ticket);
    return answer.error();
  }
  const uint64_t address = next_address_;
  allocations_.emplace(address, Allocation{answer->result, size});
  // Never given twice, so a use after free finds nothing; 2^63 bytes last.
  next_address_ += (size / kAddressAlignment + 1) * kAddressAlignment;
  return reinterpret_cast<void*>(address);
}

void RemoteDevice::free(void* data, StreamHandle stream) {
  if (!connection_->check_process()) return;
  hoist_request request = request_for(HOIST_REQUEST_FREE);
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(reinterpret_cast<uintptr_t>(data));
    if (found == allocations_.end()) return;
    add_argument(request, found->second.buffer);
    allocations_.erase(found);
  }
  if (enqueue(stream, request)) return;
  const std::lock_guard lock(mutex_);
  unsent_frees_.push_back(request.arguments[0]);
}

// What was to be freed while the daemon stood still, and what it made for nobody then.
void RemoteDevice::free_late_ones() {
  std::vector<uint64_t> numbers;
  {
    const std::lock_guard lock(mutex_);
    if (late_.empty() && unsent_frees_.empty()) return;
    if (!connection_->status()) return;
    std::erase_if(late_, [&](const Ticket& ticket) {
      if (!connection_->is_done(ticket).value_or(true)) return false;
      if (const auto made = connection_->wait(ticket)) unsent_frees_.push_back(made->result);
      return true;
    });
    numbers.swap(unsent_frees_);
  }
  for (const uint64_t number : numbers) {
    hoist_request request = request_for(HOIST_REQUEST_FREE);
    add_argument(request, number);
    const Result<hoist_completion> freed = submit_and_wait({}, request);
    if (freed || freed.error().code != ErrorCode::unavailable) continue;
    const std::lock_guard lock(mutex_);
    unsent_frees_.push_back(number);
  }
}

Result<hoist_range> RemoteDevice::range_of(const void* data, uint64_t size) const {
  if (!is_device_address(data)) {
    const std::optional<uint64_t> offset = connection_->pool_offset(data, size);
    if (offset) return hoist_range{0, *offset, size};
  } else {
    const auto address = reinterpret_cast<uintptr_t>(data);
    const std::lock_guard lock(mutex_);
    auto found = allocations_.upper_bound(address);
    if (found != allocations_.begin()) {
      --found;
      const uint64_t offset = address - found->first;
      if (offset <= found->second.size && size <= found->second.size - offset) {
        return hoist_range{found->second.buffer, offset, size};
      }
    }
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} bytes at {} are in no buffer (hoistd's client)", size, data));
}

Status RemoteDevice::copy(void* to, const void* from, size_t size, StreamHandle stream) {
  if (Status here = connection_->check_process(); !here) return here;
  if (size == 0) return {};
  const bool to_staged = !is_device_address(to) && !is_pinned(to, size);
  const bool from_staged = !is_device_address(from) && !is_pinned(from, size);
  if (to_staged && from_staged) {
    return call(stream, [=] { std::memcpy(to, from, size); });
  }
  Result<hoist_range> known = range_of(to_staged ? from : to, size);
  if (!known) return known.error();
  if (from_staged) return upload(*known, static_cast<const std::byte*>(from), stream);
  if (to_staged) return download(static_cast<std::byte*>(to), *known, stream);
  const Result<hoist_range> source = range_of(from, size);
  if (!source) return source.error();
  return copy_ranges(*source, *known, stream);
}

Status RemoteDevice::copy_ranges(const hoist_range& from, const hoist_range& to,
                                 StreamHandle stream) {
  hoist_request request = request_for(HOIST_REQUEST_COPY);
  add_range(request, from);
  add_range(request, to);
  return enqueue(stream, request);
}

// Memory of the pool; while it is full, our own copies are waited for, or others'.
Result<void*> RemoteDevice::staging(uint64_t size, Outstanding& outstanding) {
  while (true) {
    Result<void*> memory = connection_->allocate(size);
    if (memory || memory.error().code != ErrorCode::exhausted) return memory;
    const Outstanding::Waited waited = outstanding.wait_for_oldest(*connection_);
    const bool gave_up = waited == Outstanding::Waited::gave_up ||
                         (waited == Outstanding::Waited::nothing && !connection_->wait_for_any());
    if (gave_up) return fail(ErrorCode::unavailable, memory.error().message);
  }
}

Status RemoteDevice::upload(const hoist_range& to, const std::byte* from, StreamHandle stream) {
  Outstanding own;
  auto* const outstanding =
      stream.pointer != nullptr ? static_cast<Outstanding*>(stream.pointer) : &own;
  for (uint64_t done = 0; done < to.length;) {
    const uint64_t size = std::min(kChunk, to.length - done);
    const Result<void*> memory = staging(size, *outstanding);
    if (!memory) return memory.error();
    std::memcpy(*memory, from + done, size);
    const uint64_t offset = *connection_->pool_offset(*memory, size);
    Status copied = copy_ranges({0, offset, size}, {to.buffer, to.offset + done, size},
                                StreamHandle{outstanding});
    connection_->free(*memory);  // the request keeps it until it is answered
    if (!copied) return copied;
    done += size;
  }
  return outstanding == &own ? synchronize(StreamHandle{outstanding}) : Status();
}

Status RemoteDevice::download(std::byte* to, const hoist_range& from, StreamHandle stream) {
  struct Chunk {
    void* memory;
    uint64_t offset;
    uint64_t size;
    Ticket ticket;
  };
  constexpr size_t kInFlight = 4;
  Outstanding own;
  auto* const outstanding =
      stream.pointer != nullptr ? static_cast<Outstanding*>(stream.pointer) : &own;
  std::deque<Chunk> chunks;
  Status status;
  const auto finish_oldest = [&] {
    const Chunk chunk = std::move(chunks.front());
    chunks.pop_front();
    const Result<hoist_completion> answer = connection_->wait(chunk.ticket);
    if (answer) {
      std::memcpy(to + chunk.offset, chunk.memory, chunk.size);
    } else if (status) {
      status = answer.error();
    }
    connection_->free(chunk.memory);
  };
  for (uint64_t done = 0; status && done < from.length;) {
    const uint64_t size = std::min(kChunk, from.length - done);
    const Result<void*> memory =
        chunks.empty() ? staging(size, *outstanding) : connection_->allocate(size);
    if (!memory && !chunks.empty()) {
      finish_oldest();
      continue;
    }
    if (!memory) return memory.error();
    hoist_request request = request_for(HOIST_REQUEST_COPY);
    add_range(request, {from.buffer, from.offset + done, size});
    add_range(request, {0, *connection_->pool_offset(*memory, size), size});
    outstanding->drop_answered(*connection_);
    const uint32_t queue =
        outstanding->queue().value_or(queue_for(request, outstanding->stream_number()));
    Result<Ticket> ticket = submit(queue, request);
    if (!ticket) {
      connection_->free(*memory);
      status = ticket.error();
      break;
    }
    chunks.push_back({*memory, done, size, std::move(*ticket)});
    if (chunks.size() == kInFlight) finish_oldest();
    done += size;
  }
  while (!chunks.empty()) finish_oldest();
  return status;
}

Status RemoteDevice::fill(void* data, std::byte value, size_t size, StreamHandle stream) {
  if (Status here = connection_->check_process(); !here) return here;
  if (size == 0) return {};
  if (!is_device_address(data)) {
    return call(stream, [=] { std::memset(data, static_cast<int>(value), size); });
  }
  const Result<hoist_range> range = range_of(data, size);
  if (!range) return range.error();
  hoist_request request = request_for(HOIST_REQUEST_FILL);
  add_range(request, *range);
  add_argument(request, std::to_integer<uint64_t>(value));
  return enqueue(stream, request);
}

Status RemoteDevice::free_pinned(void* data, size_t size) {
  connection_->free(data);
  return {};
}

Status RemoteDevice::pin(void* data, size_t size) {
  if (is_pinned(data, size)) return {};
  return fail(ErrorCode::unsupported, "only the shared pool is pinned (hoistd's client)");
}

Status RemoteDevice::unpin(void* data) { return {}; }

}  // namespace hoist::device::remote
