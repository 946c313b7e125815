// Memory of a device for keys and plaintext: filled with zeros before it is given back.
#pragma once

#include "device/buffer.h"

namespace hoist::aes {

// From the device's pool, in the order of a stream that outlives it: what was enqueued there before
// still finds its contents.
class SecretBuffer {
 public:
  static Result<SecretBuffer> allocate(const device::Stream& stream, size_t size);
  static Result<SecretBuffer> allocate(const device::Stream&& stream, size_t size) = delete;
  SecretBuffer(SecretBuffer&&) noexcept = default;
  SecretBuffer& operator=(SecretBuffer&&) = delete;
  ~SecretBuffer();

  const device::Buffer& buffer() const { return buffer_; }

 private:
  SecretBuffer(device::StreamHandle stream, device::Buffer buffer)
      : stream_(stream), buffer_(std::move(buffer)) {}

  device::StreamHandle stream_;
  device::Buffer buffer_;
};

}  // namespace hoist::aes
