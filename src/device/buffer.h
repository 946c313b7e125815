// Memory of a device (device/device.h): Buffer owns it, Span looks at it.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/result.h"
#include "device/device.h"
#include "device/stream.h"

namespace hoist::device {

// A std::span of a device: `size` elements at `data` in the memory of `device`. What is not the
// CPU's must not be dereferenced on the host.
template <typename T>
struct Span {
  T* data = nullptr;
  size_t size = 0;
  Device* device = nullptr;

  size_t size_bytes() const { return size * sizeof(T); }
  // Elements [offset, offset + count), which must be inside.
  Span subspan(size_t offset, size_t count) const { return {data + offset, count, device}; }
  operator Span<const T>() const { return {data, size, device}; }
};

// Owned, at least 256-byte aligned; its bytes are undefined at first. The work that uses it must be
// done before it is destroyed (with a stream: be enqueued there before).
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  static Result<Buffer> allocate(Device& device, size_t size);
  // From the device's pool, in the order of `stream`, which must outlive the buffer: cheap enough
  // for every call of an operation.
  static Result<Buffer> allocate(const Stream& stream, size_t size);
  static Result<Buffer> allocate(const Stream&& stream, size_t size) = delete;
  static Result<Buffer> copy_of(Device& device, std::span<const std::byte> bytes);

  // Small copies, synchronous; Transfer (device/transfer.h) moves large ones at the link's speed.
  // `invalid_argument` where `bytes` is longer than the buffer behind `offset`.
  Status upload(std::span<const std::byte> bytes, size_t offset = 0);
  Status download(std::span<std::byte> bytes, size_t offset = 0) const;
  // Every byte becomes `value`: outputs are poisoned before they are checked.
  Status fill(std::byte value);

  void* data() const { return data_; }
  size_t size() const { return size_; }
  Device* device() const { return device_; }  // null: empty
  // As many whole T as fit.
  template <typename T = std::byte>
  Span<T> view() const {
    return {static_cast<T*>(data_), size_ / sizeof(T), device_};
  }

 private:
  Buffer(Device& device, StreamHandle stream, void* data, size_t size)
      : device_(&device), stream_(stream), data_(data), size_(size) {}
  static Result<Buffer> allocate(Device& device, StreamHandle stream, size_t size);

  Device* device_ = nullptr;
  StreamHandle stream_;
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hoist::device
