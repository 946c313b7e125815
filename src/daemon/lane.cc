#include "daemon/lane.h"

#include <array>
#include <utility>

#include "daemon/operations.h"
#include "device/remote/connection.h"
#include "device/remote/futex.h"

namespace hoist::daemon {
namespace {

using device::remote::monotonic_ns;
using device::remote::ServedCall;
using device::remote::ServedMemory;
using device::remote::ServedOperation;

// Enough to keep a stream busy, few enough for answers to come soon.
constexpr size_t kBatch = 16;

}  // namespace

Result<Lane> Lane::create(const Context& context, hoist_ring_lane* shared) {
  Lane lane(context, shared);
  if (!context.on_stream) return lane;
  Result<device::Stream> stream = device::Stream::create(context.device);
  if (!stream) return tl::unexpected(stream.error());
  lane.stream_.emplace(std::move(*stream));
  for (size_t i = 0; i < kBatch; ++i) {
    Result<device::Event> event = device::Event::create(context.device);
    if (!event) return tl::unexpected(event.error());
    lane.events_.push_back(std::move(*event));
  }
  return lane;
}

device::StreamHandle Lane::stream() const {
  return stream_ ? stream_->handle() : device::StreamHandle{};
}

Status Lane::serve() {
  std::array<hoist_request, kBatch> batch;
  size_t last_ones = HOIST_RING_ENTRIES;  // served after the ending began: no client can delay it
  while (!context_.ending.abandon.load()) {
    const bool ending = context_.ending.begun.load();
    const Result<size_t> count = receiver_.drain(batch);
    if (!count) return tl::unexpected(count.error());
    if (ending && (*count == 0 || *count > last_ones)) return {};
    if (*count == 0) {
      receiver_.wait(context_.ending.begun);
      continue;
    }
    if (ending) last_ones -= *count;
    if (Status served = serve_batch({batch.data(), *count}); !served) return served;
  }
  return {};
}

Status Lane::serve_batch(std::span<const hoist_request> batch) {
  std::array<Work, kBatch> works;
  for (size_t i = 0; i < batch.size(); ++i) {
    works[i] = begin(batch[i]);
    if (!stream_) {
      finish(works[i]);
      works[i] = {};
    } else if (Status recorded = events_[i].record(*stream_); works[i].status && !recorded) {
      works[i].status = std::move(recorded);
    }
  }
  if (stream_) {
    for (size_t i = 0; i < batch.size(); ++i) {
      // Also where it failed: what it had begun may still be writing to the pool.
      if (Status done = events_[i].synchronize(); works[i].status && !done) {
        works[i].status = std::move(done);
      }
      finish(works[i]);
    }
  }
  return context_.device.status();
}

Lane::Work Lane::begin(const hoist_request& request) {
  (void)context_.answered.load(std::memory_order_acquire);
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

Status Lane::begin_operation(const hoist_request& request, Work& work) {
  Result<CheckedRequest> checked = CheckedRequest::check(request, context_.buffers, context_.pool);
  if (!checked) return tl::unexpected(checked.error());
  work.checked = std::move(*checked);
  const std::span<const uint64_t> arguments = work.checked.arguments();
  if (request.operation == HOIST_OPERATION_ALLOCATE || request.operation == HOIST_OPERATION_FREE) {
    if (arguments.size() != 1 || !work.checked.memory().empty()) {
      return fail(ErrorCode::invalid_argument, "one argument and no range (request)");
    }
    if (request.operation == HOIST_OPERATION_FREE) return context_.buffers.free(arguments[0]);
    work.bytes = arguments[0];
    const Result<uint64_t> number =
        context_.buffers.allocate(context_.device, stream_ ? &*stream_ : nullptr, arguments[0]);
    if (!number) return tl::unexpected(number.error());
    work.result = *number;
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

void Lane::count(const Work& work, uint64_t duration) {
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

void Lane::finish(Work& work) {
  const uint64_t now = monotonic_ns();
  const uint64_t duration = now - work.started_ns;
  count(work, duration);
  if (work.status && work.deadline_ns != 0 && now > work.deadline_ns) {
    context_.statistics.late.fetch_add(1, std::memory_order_relaxed);
  }
  const uint32_t status = work.status ? static_cast<uint32_t>(HOIST_STATUS_OK)
                                      : device::remote::status_number(work.status.error().code);
  work.checked = {};  // before the answer: what it freed is free when the client hears of it
  context_.answered.fetch_add(1, std::memory_order_release);
  receiver_.complete(status, work.status ? work.result : 0, duration);
}

}  // namespace hoist::daemon
