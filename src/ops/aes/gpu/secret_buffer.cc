#include "ops/aes/gpu/secret_buffer.h"

#include <utility>

namespace hoist::aes {

Result<SecretBuffer> SecretBuffer::allocate(const device::Stream& stream, size_t size) {
  Result<device::Buffer> buffer = device::Buffer::allocate(stream, size);
  if (!buffer) return buffer.error();
  return SecretBuffer(stream.handle(), *std::move(buffer));
}

SecretBuffer::~SecretBuffer() {
  if (buffer_.device() == nullptr) return;
  // A device that refuses it is lost, and its memory with it.
  (void)buffer_.device()->fill(buffer_.data(), std::byte{0}, buffer_.size(), stream_);
}

}  // namespace hoist::aes
