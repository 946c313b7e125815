#include "device/cpu_device.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/fork.h"
#include "base/quiet_thread.h"

namespace hoist::device {
namespace {

constexpr size_t kAlignment = 256;  // what cudaMalloc() promises

class Queue {
 public:
  static Result<std::unique_ptr<Queue>> start() {
    std::unique_ptr<Queue> queue(new Queue);
    Result<std::thread> thread = start_quiet_thread([raw = queue.get()] { raw->work(); });
    if (!thread) return thread.error();
    queue->thread_ = std::move(*thread);
    return queue;
  }

  ~Queue() {
    if (!thread_.joinable()) return;
    push({});  // the end
    thread_.join();
  }

  // `unavailable` in a child after fork(), where its thread is not.
  Status check_process() const {
    if (process_.is_current()) return {};
    return fail(ErrorCode::unavailable,
                "this process is a fork of the one that made the stream (CPU): make another here");
  }

  void push(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      if (!task) return;
      task();
    }
  }

  const OwnerProcess process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::thread thread_;
};

// Counts records: the event is done when the last one's turn has come.
class Point {
 public:
  // `unavailable` in a child after fork(), where nobody reaches it.
  Status check_process() const {
    if (process_.is_current()) return {};
    return fail(ErrorCode::unavailable,
                "this process is a fork of the one that made the event (CPU): make another here");
  }

  uint64_t record() {
    const std::lock_guard lock(mutex_);
    return ++recorded_;
  }
  uint64_t recorded() {
    const std::lock_guard lock(mutex_);
    return recorded_;
  }
  void reach(uint64_t record) {
    const std::lock_guard lock(mutex_);
    // Two records on two streams may come in either order.
    if (record > reached_) reached_ = record;
    changed_.notify_all();
  }
  void wait_for(uint64_t record) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= record; });
  }
  bool is_done() {
    const std::lock_guard lock(mutex_);
    return reached_ >= recorded_;
  }

 private:
  const OwnerProcess process_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t recorded_ = 0;
  uint64_t reached_ = 0;
};

Queue& queue_of(StreamHandle stream) { return *static_cast<Queue*>(stream.pointer); }

// Shared with the queue: an event may be destroyed before its turn has come.
std::shared_ptr<Point>& point_of(EventHandle event) {
  return *static_cast<std::shared_ptr<Point>*>(event.pointer);
}

DeviceProperties cpu_properties() {
  DeviceProperties properties;
  properties.name = "CPU";
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_size = ::sysconf(_SC_PAGESIZE);
  properties.memory = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_size);
  return properties;
}

// Now, or in the stream's order.
Status run(StreamHandle stream, std::function<void()> task) {
  if (stream.pointer == nullptr) {
    task();
    return {};
  }
  if (Status here = queue_of(stream).check_process(); !here) return here;
  queue_of(stream).push(std::move(task));
  return {};
}

}  // namespace

CpuDevice::CpuDevice() : Device(cpu_properties()) {}

bool CpuDevice::can_access(const Device& peer) const {
  return peer.properties().kind == DeviceKind::cpu;
}

Status CpuDevice::allow_access(const Device& peer) {
  if (can_access(peer)) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("the CPU cannot use the memory of {}", peer.properties().id()));
}

Result<StreamHandle> CpuDevice::create_stream() {
  Result<std::unique_ptr<Queue>> queue = Queue::start();
  if (!queue) return queue.error();
  return StreamHandle{queue->release()};
}

void CpuDevice::destroy(StreamHandle stream) {
  if (queue_of(stream).check_process()) delete &queue_of(stream);
}

Status CpuDevice::synchronize(StreamHandle stream) {
  if (Status here = queue_of(stream).check_process(); !here) return here;
  const auto point = std::make_shared<Point>();
  queue_of(stream).push([point] { point->reach(1); });
  point->wait_for(1);
  return {};
}

Status CpuDevice::call(StreamHandle stream, std::function<void()> function) {
  return run(stream, std::move(function));
}

Result<EventHandle> CpuDevice::create_event() {
  return EventHandle{new std::shared_ptr<Point>(std::make_shared<Point>())};
}

void CpuDevice::destroy(EventHandle event) {
  if (point_of(event)->check_process()) delete &point_of(event);  // else somebody may wait for it
}

Status CpuDevice::record(EventHandle event, StreamHandle stream) {
  const std::shared_ptr<Point>& point = point_of(event);
  if (Status here = point->check_process(); !here) return here;
  return run(stream, [point, record = point->record()] { point->reach(record); });
}

Status CpuDevice::wait(StreamHandle stream, EventHandle event) {
  const std::shared_ptr<Point>& point = point_of(event);
  if (Status here = point->check_process(); !here) return here;
  return run(stream, [point, record = point->recorded()] { point->wait_for(record); });
}

Result<bool> CpuDevice::is_done(EventHandle event) {
  if (Status here = point_of(event)->check_process(); !here) return here.error();
  return point_of(event)->is_done();
}

Status CpuDevice::synchronize(EventHandle event) {
  Point& point = *point_of(event);
  if (Status here = point.check_process(); !here) return here;
  point.wait_for(point.recorded());
  return {};
}

Result<void*> CpuDevice::allocate(size_t size, StreamHandle stream) {
  // What the machine has is the device's limit: more would be lent, and end in the OOM killer.
  if (size <= std::min<uint64_t>(properties().memory, SIZE_MAX - kAlignment)) {
    const size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
    if (void* const data = std::aligned_alloc(kAlignment, rounded); data != nullptr) return data;
  }
  return fail(ErrorCode::exhausted, fmt::format("allocate {} bytes: out of memory (CPU)", size));
}

void CpuDevice::free(void* data, StreamHandle stream) {
  (void)run(stream, [data] { std::free(data); });
}

Status CpuDevice::copy(void* to, const void* from, size_t size, StreamHandle stream) {
  if (size == 0) return {};
  return run(stream, [=] { std::memcpy(to, from, size); });
}

Status CpuDevice::fill(void* data, std::byte value, size_t size, StreamHandle stream) {
  if (size == 0) return {};
  return run(stream, [=] { std::memset(data, static_cast<int>(value), size); });
}

Status CpuDevice::write_value(uint32_t* word, uint32_t value, StreamHandle stream) {
  return run(stream,
             [=] { std::atomic_ref<uint32_t>(*word).store(value, std::memory_order_release); });
}

Status CpuDevice::start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream) {
  return run(stream, [copy_kernel] { serve_on_host(copy_kernel); });
}

}  // namespace hoist::device
