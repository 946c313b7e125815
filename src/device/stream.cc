#include "device/stream.h"

namespace hoist::device {

Result<Stream> Stream::create(Device& device) {
  const Result<StreamHandle> handle = device.create_stream();
  if (!handle) return handle.error();
  return Stream(device, *handle);
}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  std::swap(is_owned_, other.is_owned_);
  return *this;
}

Stream::~Stream() {
  if (is_owned_ && handle_.pointer != nullptr) device_->destroy(handle_);
}

Result<Event> Event::create(Device& device) {
  const Result<EventHandle> handle = device.create_event();
  if (!handle) return handle.error();
  return Event(device, *handle);
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

Event::~Event() {
  if (handle_.pointer != nullptr) device_->destroy(handle_);
}

}  // namespace hoist::device
