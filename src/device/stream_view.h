// A stream that somebody else owns, for those who put work on it: what takes one takes a Stream,
// too. Without a handle, which only the CPU device allows, work is done at once
// (device/remote/served_operation.h).
#pragma once

#include "device/stream.h"

namespace hoist::device {

class StreamView {
 public:
  StreamView(const Stream& stream) : device_(&stream.device()), handle_(stream.handle()) {}
  StreamView(Device& device, StreamHandle handle) : device_(&device), handle_(handle) {}

  Device& device() const { return *device_; }
  StreamHandle handle() const { return handle_; }

 private:
  Device* device_;
  StreamHandle handle_;
};

}  // namespace hoist::device
