#include "daemon/queue.h"

#include <array>
#include <utility>

#include "daemon/operations.h"
#include "device/backoff.h"
#include "device/fine_timer.h"
#include "device/remote/connection.h"
#include "device/remote/futex.h"

namespace hoist::daemon {
namespace {

using device::remote::ServedCall;
using device::remote::ServedMemory;
using device::remote::ServedOperation;

// Enough to keep a stream busy, few enough for answers to come soon.
constexpr size_t kMostInFlight = 16;

}  // namespace

Result<Queue> Queue::create(const Context& context, hoist_ring_queue* shared) {
  Queue queue(context, shared);
  if (!context.on_stream) return queue;
  Result<device::Stream> stream = device::Stream::create(context.device);
  if (!stream) return stream.error();
  queue.stream_.emplace(std::move(*stream));
  Result<device::Fences> fences = device::Fences::create(context.pinned, kMostInFlight);
  if (!fences) return fences.error();
  queue.words_ = std::move(fences->words);
  for (device::Fence& fence : fences->list) queue.ring_.push_back({std::move(fence), {}});
  return queue;
}

device::StreamHandle Queue::stream() const {
  return stream_ ? stream_->handle() : device::StreamHandle{};
}

Status Queue::serve() {
  const device::FineTimer timer;
  const Status served = take_and_answer();
  while (in_flight_ > 0) answer_oldest(ring_[oldest_].fence.wait({}));
  if (!context_.device.status()) words_.abandon();
  return served;
}

Status Queue::take_and_answer() {
  std::array<hoist_request, kMostInFlight> requests;
  size_t last_ones = HOIST_RING_ENTRIES;  // served after the ending began: no client can delay it
  while (!context_.ending.abandon.load()) {
    const bool ending = context_.ending.begun.load();
    const Result<size_t> count =
        receiver_.drain(std::span(requests).first(kMostInFlight - in_flight_));
    if (!count) return count.error();
    const bool has_room = in_flight_ < kMostInFlight;
    if (ending && has_room && (*count == 0 || *count > last_ones)) return {};
    if (ending) last_ones -= *count;
    for (size_t i = 0; i < *count; ++i) begin(requests[i]);
    if (in_flight_ > 0) {
      if (Status answered = answer_oldest_or_take(); !answered) return answered;
    } else if (*count == 0) {
      wait_for_more();
    } else if (Status usable = context_.device.status(); !usable) {
      return usable;
    }
  }
  return {};
}

// Who is answered often asks again at once, and to wake a thread takes longer than that.
void Queue::wait_for_more() {
  for (device::Backoff backoff({}, {}); !backoff.will_sleep(); backoff.wait()) {
    if (receiver_.has_more()) return;
  }
  receiver_.wait(context_.ending.begun);
}

void Queue::begin(const hoist_request& request) {
  Work work = begin_work(request);
  if (!stream_) return finish(std::move(work));
  InFlight& last = ring_[(oldest_ + in_flight_) % ring_.size()];
  // Also behind what failed: what it had begun may still be writing to the pool.
  if (Status recorded = last.fence.record(*stream_); work.status && !recorded) {
    work.status = std::move(recorded);
  }
  last.work = std::move(work);
  ++in_flight_;
}

Status Queue::answer_oldest_or_take() {
  const auto can_take = [&] { return in_flight_ < ring_.size() && receiver_.has_more(); };
  const Result<bool> reached = ring_[oldest_].fence.wait_unless({}, can_take);
  if (reached && !*reached) return {};
  answer_oldest(reached ? Status() : reached.error());
  return context_.device.status();
}

// `waited`: how waiting for it ended.
void Queue::answer_oldest(Status waited) {
  Work work = std::exchange(ring_[oldest_].work, {});
  oldest_ = (oldest_ + 1) % ring_.size();
  --in_flight_;
  if (work.status && !waited) work.status = std::move(waited);
  finish(std::move(work));
}

Queue::Work Queue::begin_work(const hoist_request& request) {
  (void)context_.answered.load(std::memory_order_acquire);
  context_.statistics.in_flight.fetch_add(1, std::memory_order_relaxed);
  Work work;
  work.operation = request.operation;
  work.deadline_ns = request.deadline_ns;
  work.started_ns = monotonic_ns();
  if (request.deadline_ns != 0 && work.started_ns > request.deadline_ns) {
    context_.statistics.cancelled.fetch_add(1, std::memory_order_relaxed);
    work.status = fail(ErrorCode::cancelled, "its deadline passed (request)");
  } else {
    work.status = begin_operation(request, work);
  }
  return work;
}

Status Queue::begin_operation(const hoist_request& request, Work& work) {
  Result<CheckedRequest> checked = CheckedRequest::check(request, context_.buffers, context_.pool);
  if (!checked) return checked.error();
  work.checked = std::move(*checked);
  const std::span<const uint64_t> arguments = work.checked.arguments();
  if (request.operation == HOIST_REQUEST_ALLOCATE || request.operation == HOIST_REQUEST_FREE) {
    if (arguments.size() != 1 || !work.checked.memory().empty()) {
      return fail(ErrorCode::invalid_argument, "one argument and no range (request)");
    }
    if (request.operation == HOIST_REQUEST_FREE) return context_.buffers.free(arguments[0]);
    work.bytes = arguments[0];
    Result<std::shared_ptr<device::Buffer>> made = allocate(arguments[0]);
    if (!made) return made.error();
    work.made = std::move(*made);
    return {};
  }
  const ServedOperation* const operation = find_operation(request.operation);
  if (operation == nullptr) return fail(ErrorCode::unsupported, "no such operation (request)");
  if (work.checked.uses_pool() && !operation->takes_pool()) {
    return fail(ErrorCode::invalid_argument, "it works on buffers, not on the pool (request)");
  }
  const ServedCall call = {context_.device, stream(), work.checked.memory(), arguments};
  for (const ServedMemory& part : call.memory) work.bytes += part.size;
  if (Status valid = operation->validate(call); !valid) return valid;
  return operation->run(call);
}

// What was freed may still be held by work that is on its way.
Result<std::shared_ptr<device::Buffer>> Queue::allocate(uint64_t size) {
  while (true) {
    Result<std::shared_ptr<device::Buffer>> made =
        context_.buffers.allocate(context_.device, stream_ ? &*stream_ : nullptr, size);
    const bool may_come = !made && made.error().code == ErrorCode::exhausted && in_flight_ > 0;
    if (!may_come) return made;
    answer_oldest(ring_[oldest_].fence.wait({}));
  }
}

void Queue::count(const Work& work, uint64_t duration) {
  const bool is_unavailable = !work.status && work.status.error().code == ErrorCode::unavailable;
  if (is_unavailable && context_.device.status()) {
    context_.statistics.not_ready.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  OperationStatistics& statistics = context_.statistics.operation(work.operation);
  statistics.calls.fetch_add(1, std::memory_order_relaxed);
  statistics.nanoseconds.fetch_add(duration, std::memory_order_relaxed);
  if (!work.status) {
    statistics.failed.fetch_add(1, std::memory_order_relaxed);
  } else {
    statistics.bytes.fetch_add(work.bytes, std::memory_order_relaxed);
  }
}

void Queue::finish(Work work) {
  const uint64_t now = monotonic_ns();
  const uint64_t duration = now - work.started_ns;
  count(work, duration);
  if (work.status && work.deadline_ns != 0 && now > work.deadline_ns) {
    context_.statistics.late.fetch_add(1, std::memory_order_relaxed);
  }
  const uint32_t status = work.status ? static_cast<uint32_t>(HOIST_RING_OK)
                                      : device::remote::status_number(work.status.error().code);
  if (work.made != nullptr && work.status) {
    work.result = context_.buffers.publish(std::move(work.made));  // its bytes are zero now
  }
  work.made.reset();
  work.checked = {};  // before the answer: what it freed is free when the client hears of it
  context_.statistics.in_flight.fetch_sub(1, std::memory_order_relaxed);
  context_.answered.fetch_add(1, std::memory_order_release);
  receiver_.complete(status, work.status ? work.result : 0, duration);
}

}  // namespace hoist::daemon
