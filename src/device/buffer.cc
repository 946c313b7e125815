#include "device/buffer.h"

#include <fmt/core.h>

#include <algorithm>

namespace hoist::device {
namespace {

Status check_range(size_t wanted, size_t offset, size_t size) {
  if (offset <= size && wanted <= size - offset) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("{} bytes at {} do not fit (device buffer of {} bytes)", wanted, offset, size));
}

}  // namespace

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(stream_, other.stream_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (data_ != nullptr) device_->free(data_, stream_);
}

Result<Buffer> Buffer::allocate(Device& device, StreamHandle stream, size_t size) {
  const Result<void*> data = device.allocate(std::max<size_t>(size, 1), stream);
  if (!data) return data.error();
  return Buffer(device, stream, *data, size);
}

Result<Buffer> Buffer::allocate(Device& device, size_t size) { return allocate(device, {}, size); }

Result<Buffer> Buffer::allocate(const Stream& stream, size_t size) {
  return allocate(stream.device(), stream.handle(), size);
}

Result<Buffer> Buffer::copy_of(Device& device, std::span<const std::byte> bytes) {
  Result<Buffer> buffer = allocate(device, bytes.size());
  if (!buffer) return buffer;
  if (Status done = buffer->upload(bytes); !done) return done.error();
  return buffer;
}

Status Buffer::upload(std::span<const std::byte> bytes, size_t offset) {
  if (Status fits = check_range(bytes.size(), offset, size_); !fits || bytes.empty()) return fits;
  return device_->copy(static_cast<std::byte*>(data_) + offset, bytes.data(), bytes.size(), {});
}

Status Buffer::download(std::span<std::byte> bytes, size_t offset) const {
  if (Status fits = check_range(bytes.size(), offset, size_); !fits || bytes.empty()) return fits;
  return device_->copy(bytes.data(), static_cast<const std::byte*>(data_) + offset, bytes.size(),
                       {});
}

Status Buffer::fill(std::byte value) {
  if (size_ == 0) return {};
  return device_->fill(data_, value, size_, {});
}

}  // namespace hoist::device
