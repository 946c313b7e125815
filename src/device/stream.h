// Streams and events of a device (device/device.h): owned, moved, never copied. The device must
// outlive them.
#pragma once

#include <functional>
#include <utility>

#include "device/device.h"

namespace hoist::device {

class Event;

// An ordered queue of work, for several threads at once. Destroying it lets the work finish.
class Stream {
 public:
  static Result<Stream> create(Device& device);
  // One of somebody else's, who destroys it later.
  static Stream borrow(Device& device, StreamHandle handle) {
    return {device, handle, /*is_owned=*/false};
  }
  Stream(Stream&& other) noexcept
      : device_(other.device_),
        handle_(std::exchange(other.handle_, {})),
        is_owned_(other.is_owned_) {}
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  Device& device() const { return *device_; }
  StreamHandle handle() const { return handle_; }

  // See Device::copy() about pageable memory.
  Status copy(void* to, const void* from, size_t size) {
    return device_->copy(to, from, size, handle_);
  }
  Status fill(void* data, std::byte value, size_t size) {
    return device_->fill(data, value, size, handle_);
  }
  // Calls `function` in this stream's order, on another thread; it must not use a device.
  Status call(std::function<void()> function) {
    return device_->call(handle_, std::move(function));
  }
  // What follows on this stream is done after the event, which may be another device's of the kind.
  Status wait(const Event& event);
  // Returns when all work is done; reports what went wrong in it.
  Status synchronize() { return device_->synchronize(handle_); }

 private:
  Stream(Device& device, StreamHandle handle, bool is_owned = true)
      : device_(&device), handle_(handle), is_owned_(is_owned) {}
  Device* device_;
  StreamHandle handle_;
  bool is_owned_;
};

// A point in a stream.
class Event {
 public:
  static Result<Event> create(Device& device);
  Event(Event&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, {})) {}
  Event& operator=(Event&& other) noexcept;
  ~Event();

  EventHandle handle() const { return handle_; }

  Status record(const Stream& stream) { return device_->record(handle_, stream.handle()); }
  Result<bool> is_done() const { return device_->is_done(handle_); }
  // Blocks until the work before the last record() is done.
  Status synchronize() const { return device_->synchronize(handle_); }

 private:
  Event(Device& device, EventHandle handle) : device_(&device), handle_(handle) {}
  Device* device_;
  EventHandle handle_;
};

inline Status Stream::wait(const Event& event) { return device_->wait(handle_, event.handle()); }

}  // namespace hoist::device
