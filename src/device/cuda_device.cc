#include "device/cuda_device.h"

#include <emmintrin.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "device/cuda_plugin.h"

namespace hoist::device {

CudaDevice::CudaDevice(DeviceProperties properties, const CudaCalls& calls)
    : Device(std::move(properties)), calls_(calls) {}

Status CudaDevice::status() const {
  if (!process_.is_not_forked()) {
    return fail(ErrorCode::unavailable,
                fmt::format("{} cannot be used in a fork of a process that has found it: use it "
                            "there, or in a process that is started anew",
                            properties().id()));
  }
  if (!lost_) return {};
  const std::lock_guard lock(mutex_);
  return fail(ErrorCode::unavailable,
              fmt::format("{} was lost: {}: start the program again", properties().id(), why_));
}

Status CudaDevice::judge(int error, std::string_view what) {
  if (error == 0) return {};
  const Status failed = cuda_status(error, what);
  if (calls_.is_sticky(error)) {
    const std::lock_guard lock(mutex_);
    if (!lost_) why_ = failed.error().message;
    lost_ = true;
  }
  return failed;
}

template <typename... Parameters, typename... Arguments>
Status CudaDevice::ask(int (*function)(int, Parameters...), std::string_view what,
                       Arguments... arguments) {
  if (lost_ || !process_.is_current()) return status();
  return judge(function(properties().index, arguments...), what);
}

bool CudaDevice::can_access(const Device& peer) const {
  if (peer.properties().kind != DeviceKind::cuda) return false;
  const std::vector<int>& peers = properties().peers;
  return &peer == this || std::ranges::count(peers, peer.properties().index) > 0;
}

Status CudaDevice::allow_access(const Device& peer) {
  if (&peer == this) return status();
  if (!can_access(peer)) {
    return fail(ErrorCode::unsupported, fmt::format("{} cannot use the memory of {}",
                                                    properties().id(), peer.properties().id()));
  }
  return ask(calls_.allow_access, "allow access to a peer", peer.properties().index);
}

Result<StreamHandle> CudaDevice::create_stream() {
  StreamHandle stream;
  if (Status done = ask(calls_.stream_create, "create a stream", &stream.pointer); !done) {
    return done.error();
  }
  return stream;
}

void CudaDevice::destroy(StreamHandle stream) {
  (void)ask(calls_.stream_destroy, "destroy a stream", stream.pointer);
}

Status CudaDevice::synchronize(StreamHandle stream) {
  return ask(calls_.stream_synchronize, "wait for a stream", stream.pointer);
}

Status CudaDevice::call(StreamHandle stream, std::function<void()> function) {
  auto owned = std::make_unique<std::function<void()>>(std::move(function));
  const auto run = [](void* argument) {
    const std::unique_ptr<std::function<void()>> function(
        static_cast<std::function<void()>*>(argument));
    (*function)();
  };
  std::function<void()>* const passed = owned.release();
  Status done = ask(calls_.stream_call, "call in a stream", stream.pointer, +run, passed);
  if (!done) owned.reset(passed);  // run() will not have it
  return done;
}

Result<EventHandle> CudaDevice::create_event() {
  EventHandle event;
  if (Status done = ask(calls_.event_create, "create an event", &event.pointer); !done) {
    return done.error();
  }
  return event;
}

void CudaDevice::destroy(EventHandle event) {
  (void)ask(calls_.event_destroy, "destroy an event", event.pointer);
}

Status CudaDevice::record(EventHandle event, StreamHandle stream) {
  return ask(calls_.event_record, "record an event", event.pointer, stream.pointer);
}

Status CudaDevice::wait(StreamHandle stream, EventHandle event) {
  return ask(calls_.stream_wait_event, "wait for an event", stream.pointer, event.pointer);
}

Result<bool> CudaDevice::is_done(EventHandle event) {
  bool done = false;
  if (Status asked = ask(calls_.event_done, "ask an event", event.pointer, &done); !asked) {
    return asked.error();
  }
  return done;
}

Status CudaDevice::synchronize(EventHandle event) {
  // To be woken takes longer than most waits of a transfer: look for a moment first.
  constexpr auto kLook = std::chrono::microseconds(50);
  const auto end = std::chrono::steady_clock::now() + kLook;
  do {
    const Result<bool> done = is_done(event);
    if (!done) return done.error();
    if (*done) return {};
    for (int i = 0; i < 20; ++i) _mm_pause();  // leaves the driver's lock to others
  } while (std::chrono::steady_clock::now() < end);
  return ask(calls_.event_synchronize, "wait for an event", event.pointer);
}

Result<void*> CudaDevice::allocate(size_t size, StreamHandle stream) {
  void* data = nullptr;
  Status done =
      ask(calls_.allocate, fmt::format("allocate {} bytes", size), &data, size, stream.pointer);
  if (!done) return done.error();
  return data;
}

void CudaDevice::free(void* data, StreamHandle stream) {
  (void)ask(calls_.free, "free", data, stream.pointer);
}

Status CudaDevice::trim() { return ask(calls_.trim, "give memory back"); }

Result<DeviceMemory> CudaDevice::memory() {
  size_t unused = 0;
  size_t total = 0;
  if (Status asked = ask(calls_.memory, "ask for the memory", &unused, &total); !asked) {
    return asked.error();
  }
  if (total == 0) {
    return fail(ErrorCode::unavailable,
                fmt::format("{} is not open in this process", properties().id()));
  }
  return DeviceMemory{total - unused, total};
}

Status CudaDevice::copy(void* to, const void* from, size_t size, StreamHandle stream) {
  if (size == 0) return status();
  return ask(calls_.copy, "copy", to, from, size, stream.pointer);
}

Status CudaDevice::fill(void* data, std::byte value, size_t size, StreamHandle stream) {
  if (size == 0) return status();
  return ask(calls_.fill, "fill", data, static_cast<int>(value), size, stream.pointer);
}

Status CudaDevice::write_value(uint32_t* word, uint32_t value, StreamHandle stream) {
  return ask(calls_.write_value, "write a value", word, value, stream.pointer);
}

Status CudaDevice::start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream) {
  if (lost_ || !process_.is_current()) return status();
  return judge(calls_.copy_kernel(properties().index, copy_kernel, stream.pointer),
               "start a copy kernel");
}

Status CudaDevice::pin(void* data, size_t size) {
  return ask(calls_.pin, fmt::format("pin {} bytes", size), data, size);
}

Status CudaDevice::unpin(void* data) { return ask(calls_.unpin, "unpin", data); }

bool CudaDevice::is_pinned(const void* data, size_t size) const {
  if (lost_ || size == 0 || !process_.is_current()) return false;
  const auto* const bytes = static_cast<const std::byte*>(data);
  // Registrations have holes only where somebody made them side by side: both ends tell.
  for (const std::byte* byte : {bytes, bytes + size - 1}) {
    bool pinned = false;
    if (calls_.is_pinned(properties().index, byte, &pinned) != 0 || !pinned) return false;
  }
  return true;
}

}  // namespace hoist::device
